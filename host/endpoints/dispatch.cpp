#include "host/endpoints/dispatch.hpp"

#include <exception>
#include <stdexcept>

#include "host/auth/authority.hpp"
#include "host/fleet/service.hpp"
#include "lib/http/worker_threads.hpp"

namespace muster::endpoints {
namespace {

constexpr std::string_view no_standard_exception = "an exception that is no std::exception";

// Runs the work, which answers the call. An exception would end the host on threads of others.
template <class Work>
void guarded(const CallPtr& call, const Work& work) {
  try {
    work();
  } catch (const std::exception& error) {
    call->fail_unexpectedly(error.what());
  } catch (...) {
    call->fail_unexpectedly(no_standard_exception);
  }
}

// The caller is answered at once. The fleet gets the exception too: it decides whether the change
// was half made.
std::function<void(fleet::Fleet&, fleet::Now)> answering_exceptions(
    const CallPtr& call, std::function<void(fleet::Fleet&, fleet::Now)> input) {
  return [call, input = std::move(input)](fleet::Fleet& fleet, fleet::Now now) {
    try {
      input(fleet, now);
    } catch (const std::exception& error) {
      call->fail_unexpectedly(error.what());
      throw;
    } catch (...) {
      call->fail_unexpectedly(no_standard_exception);
      throw;
    }
  };
}

// A row that changes something and does not say whether that is audited is a bug of its table.
void check_audit(const Endpoint& endpoint) {
  if (endpoint.method != "GET" && endpoint.audit.kind() == Audit::Kind::undecided)
    throw std::logic_error(
        std::string(endpoint.name) +
        " must say whether it is in the audit log; see host/endpoints/audit.hpp");
}

bool leaves_audit_event(const Call& call) {
  const Endpoint& row = call.endpoint();
  return row.audit.is_written_by_dispatcher() &&
         !(row.leaves_no_audit_event && row.leaves_no_audit_event(call));
}

struct RunHandler {
  const CallPtr& call;

  void operator()(AnswerNow handler) const { call->finish(handler(*call)); }
  void operator()(ReadFleet handler) const {
    if (!has_fleet(call)) return;
    call->host().fleet->query([call = call, handler](const fleet::Fleet& fleet, fleet::Now now) {
      guarded(call, [&] { call->finish(handler(*call, fleet, now)); });
    });
  }
  void operator()(ChangeFleet handler) const {
    auto change = handler(*call);
    if (!change) return call->fail(change.error());
    change_fleet(call, std::move(*change));
  }
  void operator()(OnWorkerThread handler) const {
    run_on_worker(call, [call = call, handler] { finish_audited(call, handler.answer(*call)); });
  }
  void operator()(OnWorkerThreadWithFleet handler) const {
    if (has_fleet(call)) (*this)(OnWorkerThread{handler.answer});
  }
  void operator()(AnswerByItself handler) const { handler(call); }
};

void run(const std::shared_ptr<const Api>& api, const Endpoint& endpoint, http::Request&& request,
         const http::Reply& reply) {
  const auto call = std::make_shared<Call>(api, endpoint, std::move(request), reply);
  guarded(call, [&] {
    if (endpoint.refuse_at_once)
      if (const auto refusal = endpoint.refuse_at_once(*call)) return call->fail(*refusal);
    if (api->admit(*call))
      return std::visit(RunHandler{call}, static_cast<const AnyHandler&>(endpoint.handler));
    if (endpoint.note_bad_request) endpoint.note_bad_request(*call);
  });
}

// What the call was answered with.
using Answered = std::shared_ptr<std::optional<http::Response>>;

Call call_without_body(const std::shared_ptr<const Api>& api, const Endpoint& endpoint,
                       const http::Request& request, const Answered& answered) {
  const http::Reply reply(
      [answered](http::Response&& response) { *answered = std::move(response); }, request);
  return {api, endpoint, request.head(), reply};
}

std::optional<http::Response> verify_body(const std::shared_ptr<const Api>& api,
                                          const Endpoint& endpoint, const http::Request& request,
                                          const std::string& hash) {
  const auto same = auth::Authority::check_body(request, hash);
  if (same) return std::nullopt;
  const auto answered = std::make_shared<std::optional<http::Response>>();
  call_without_body(api, endpoint, request, answered).fail_authentication(same.error());
  return std::move(*answered);
}

std::optional<http::Response> check_head(const std::shared_ptr<const Api>& api,
                                         const Endpoint& endpoint, http::Request& request) {
  const auto answered = std::make_shared<std::optional<http::Response>>();
  Call call = call_without_body(api, endpoint, request, answered);
  if (!api->admit_head(call)) return std::move(*answered);
  request.caller = call.caller();
  request.client_id = call.client_id();
  if (!call.signed_hash().empty())
    request.verify_body = [api, &endpoint, hash = call.signed_hash()](const http::Request& whole) {
      return verify_body(api, endpoint, whole, hash);
    };
  return std::nullopt;
}

http::RouteRules rules_of(const std::shared_ptr<const Api>& api, const Endpoint& endpoint) {
  http::RouteRules rules = api->access(endpoint);
  rules.max_body_bytes = endpoint.max_body_bytes;
  if (!endpoint.scopes.list().empty())
    rules.check_head = [api, &endpoint](http::Request& request) {
      return check_head(api, endpoint, request);
    };
  return rules;
}

}  // namespace

void add_routes(http::Router& router, const std::shared_ptr<const Api>& api,
                std::span<const Endpoint> rows) {
  for (const Endpoint& endpoint : rows) {
    for (const std::string& name : parameters_of(endpoint)) pattern_of_path(name);  // throws
    check_audit(endpoint);                                                          // throws
    router.add(
        std::string(endpoint.method), endpoint.path,
        [api, &endpoint](http::Request&& request, const http::Reply& reply) {
          run(api, endpoint, std::move(request), reply);
        },
        rules_of(api, endpoint));
  }
}

bool has_fleet(const CallPtr& call) {
  if (call->host().fleet) return true;
  call->fail(call->api().no_fleet());
  return false;
}

bool can_change(const CallPtr& call) {
  if (!has_fleet(call)) return false;
  const store::Health health = call->host().fleet->store_health();
  if (!health.ok) call->fail({"ReadOnly", health.sentence});
  return health.ok;
}

void read_fleet(const CallPtr& call, std::function<Answer(const fleet::Fleet&, fleet::Now)> read) {
  visit_fleet(call, [call, read = std::move(read)](const fleet::Fleet& fleet, fleet::Now now) {
    call->finish(read(fleet, now));
  });
}

void visit_fleet(const CallPtr& call, std::function<void(const fleet::Fleet&, fleet::Now)> visit) {
  if (!has_fleet(call)) return;
  call->host().fleet->query(
      [call, visit = std::move(visit)](const fleet::Fleet& fleet, fleet::Now now) {
        guarded(call, [&] { visit(fleet, now); });
      });
}

void change_fleet(const CallPtr& call, FleetChange change) {
  if (!can_change(call)) return;
  auto made = std::make_shared<Answer>(Failure{"InternalServerError", "nothing was done"});
  call->host().fleet->post_change(
      answering_exceptions(
          call,
          [call, made, change = std::move(change)](fleet::Fleet& fleet, fleet::Now now) {
            *made = change(fleet, now);
            // In the same transaction as what was
            // changed.
            if (*made && leaves_audit_event(*call)) fleet.emit_event(audit_event(*call), now);
          }),
      [call, made](const std::optional<Error>& error) {
        if (error) return call->fail({"ReadOnly", error->message});
        call->finish(std::move(*made));
      });
}

// What was changed stays changed if the event cannot be written; the log has it then.
void finish_audited(const CallPtr& call, Answer answer) {
  if (!answer || !leaves_audit_event(*call)) return call->finish(std::move(answer));
  events::Event event = audit_event(*call);
  const auto given = std::make_shared<Answer>(std::move(answer));
  const auto log_event = [call, text = event.text](const std::string& problem) {
    call->host().log.error("an event of the audit log cannot be written",
                           {{"event", text},
                            {"request", call->request().id},
                            {"client", call->client_id()},
                            {"problem", problem}});
  };
  if (!call->host().fleet) {
    log_event(call->host().problem);
    return call->finish(std::move(*given));
  }
  call->host().fleet->post_change(
      [event = std::move(event)](fleet::Fleet& fleet, fleet::Now now) {
        fleet.emit_event(event, now);
      },
      [call, given, log_event](const std::optional<Error>& error) {
        if (error) log_event(error->message);
        call->finish(std::move(*given));
      });
}

std::optional<Failure> refuse_current_providers(const Call& call, const fleet::Fleet& fleet) {
  const fleet::Pool* pool = fleet.find_pool(call.worker_pool_id());
  if (!pool || !pool->spec) return std::nullopt;
  for (const ProviderId& provider : pool->spec->providers)
    if (auto refusal = call.refuse({{"providerId", provider.str()}})) return refusal;
  return std::nullopt;
}

void run_on_worker(const CallPtr& call, std::function<void()> work) {
  run_on_worker(call, *call->host().workers, std::move(work));
}

void run_on_worker(const CallPtr& call, http::WorkerThreads& threads, std::function<void()> work) {
  const bool queued = threads.run([call, work = std::move(work)] { guarded(call, work); });
  if (!queued)
    call->fail({"ServiceUnavailable",
                "the host is busy with other requests of this kind; try again in a few seconds",
                std::chrono::seconds(2)});
}

void post_to_fleet(const CallPtr& call, std::function<void(fleet::Fleet&, fleet::Now)> input,
                   std::function<void()> durable) {
  call->host().fleet->post_change(
      answering_exceptions(call, std::move(input)),
      [call, durable = std::move(durable)](const std::optional<Error>& error) {
        if (error) return call->fail({"ReadOnly", error->message});
        if (durable) guarded(call, durable);
      });
}

}  // namespace muster::endpoints
