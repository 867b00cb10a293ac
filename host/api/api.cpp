#include "host/api/api.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "host/api/handlers.hpp"
#include "host/api/openapi.hpp"
#include "host/auth/guard.hpp"
#include "lib/http/answer.hpp"

namespace muster::api {
namespace {

using endpoints::Scopes;

// -------------------------------------------------------------------------------------------------
// Checks

std::string in_words(const std::vector<QueryParameter>& known) {
  if (known.empty()) return "this path has no parameters";
  std::string text = "this path knows ";
  for (const QueryParameter& parameter : known)
    text += (text.ends_with("knows ") ? "`" : ", `") + std::string(parameter.name) + "`";
  return text;
}

// A parameter that is misspelt must not be silently ignored.
std::optional<std::string> refuse_query(const Query& query, const Endpoint& endpoint) {
  if (query.broken()) return "the query has a broken escape: " + *query.broken();
  for (const auto& [name, value] : query.parameters()) {
    const auto known = std::ranges::find(endpoint.query, name, &QueryParameter::name);
    if (known == endpoint.query.end())
      return "the parameter `" + name + "` is not known; " + in_words(endpoint.query);
    const auto times =
        std::ranges::count(query.parameters(), name, &Query::Parameters::value_type::first);
    if (!known->repeated && times > 1) return "the parameter `" + name + "` occurs twice";
    if (const auto& pattern = pattern_of(*known); !pattern.matches(value))
      return "the parameter `" + name + "` must be " + std::string(pattern.words);
  }
  return std::nullopt;
}

std::optional<std::string> refuse_path(const Call& call) {
  for (const auto& [name, value] : call.parameters())
    if (const auto& pattern = endpoints::pattern_of_path(name); !pattern.matches(value))
      return "`" + name + "` in the path must be " + std::string(pattern.words);
  return std::nullopt;
}

// The body of a caller without any scope of the kind is not read. False: it was
// answered.
bool may_be_authorized(Call& call) {
  if (!call.authenticate()) return false;
  for (const std::string_view scope : call.endpoint().scopes.list()) {
    if (call.caller()->scopes.may_satisfy(scope.substr(0, scope.find('<')))) continue;
    const Error missing =
        Error::auth("this needs credentials with the scope " + std::string(scope));
    if (call.client_id().empty())
      call.respond(auth::unauthenticated(call.request(), missing));
    else
      call.fail({"InsufficientScopes", missing.message});
    return false;
  }
  return true;
}

// Of `..., but an object is expected` what is expected.
std::string in_words(const json::Violation& violation) {
  const std::string& text = violation.message;
  const std::string place =
      violation.path.empty() ? "the body" : "`" + violation.path.substr(1) + "`";
  if (violation.schema_path.ends_with("/required")) {
    const auto open = text.find('"'), close = text.rfind('"');
    if (open < close) return "`" + text.substr(open + 1, close - open - 1) + "` is missing";
  }
  constexpr std::string_view but = ", but ", expected = " is expected";
  const auto begin = text.rfind(but);
  if (begin != std::string::npos && text.ends_with(expected))
    return place + " must be " +
           text.substr(begin + but.size(), text.size() - begin - but.size() - expected.size());
  return place + ": " + text;
}

class OwnApi final : public endpoints::Api {
 public:
  OwnApi(Services services, std::span<const Endpoint> rows)
      : services_(std::move(services)), inputs_(compile_inputs(rows)) {}

  const Services& services() const { return services_; }
  const endpoints::Host& host() const override { return services_; }

  http::Access access(const Endpoint& endpoint) const override {
    const Scopes::Kind kind = endpoint.scopes.kind();
    const bool open = kind == Scopes::Kind::open ||
                      (kind == Scopes::Kind::all_unless_open && services_.metrics_are_open);
    return open ? http::Access::open : http::Access::guarded;
  }

  // The router's guard has checked credentials and scopes.
  bool admit(Call& call) const override {
    const Endpoint& endpoint = call.endpoint();
    if (auto mistake = refuse_path(call)) {
      call.fail(input_error(std::move(*mistake)));
      return false;
    }
    if (access(endpoint) == http::Access::guarded && !endpoint.handler_reads_query)
      if (auto mistake = refuse_query(call.query(), endpoint)) {
        call.fail(input_error(std::move(*mistake)));
        return false;
      }
    if (endpoint.authorizes_by_request() && !may_be_authorized(call)) return false;
    if (!endpoint.input.empty() && !read_body(call)) return false;
    return !endpoint.authorizes_by_request() || call.authorize();
  }

  http::Response answer(const Call& call, std::string body) const override {
    http::Response response{.status = call.endpoint().status, .headers = {}, .body = {}};
    if (call.endpoint().status == 204) return response;
    response.headers.push_back({"Content-Type", std::string(call.endpoint().content_type)});
    response.body = std::move(body);
    return response;
  }

  http::Response failure(const Call& call, const Failure& failure,
                         std::vector<http::Header> headers) const override {
    http::Response response = http::error_answer(call.request(), endpoints::status_of(failure.code),
                                                 failure.code, failure.message, failure.more);
    for (http::Header& header : headers) response.headers.push_back(std::move(header));
    return response;
  }

  Failure no_fleet() const override { return {"NoFleet", services_.problem}; }

 private:
  bool read_body(Call& call) const {
    if (call.request().body.empty() && !call.endpoint().input_required) return true;
    auto parsed = http::parse_object_body(call.request().body);
    if (!parsed) {
      call.fail(input_error("the request's body: " + parsed.error().message));
      return false;
    }
    call.set_payload(std::move(*parsed));
    const auto violations = inputs_.find(call.endpoint().input)->second.validate(call.payload());
    if (violations.empty()) return true;
    call.fail(input_error(in_words(violations.front())));
    return false;
  }

  const Services services_;
  const std::map<std::string_view, json::Schema> inputs_;  // by the schema's name
};

bool needs_events(const Endpoint& endpoint) {
  return endpoint.category == "events";
}

}  // namespace

const Services& services_of(const Call& call) {
  return static_cast<const OwnApi&>(call.api()).services();
}

Answer json_answer(const json::value& document) {
  return json::write(document) + "\n";
}

fleet::WorkerName worker_of(const Call& call) {
  return {call.worker_pool_id(), WorkerGroup(call.parameter("workerGroup")),
          WorkerId(call.parameter("workerId"))};
}

Failure no_pool(const Call& call) {
  return not_found("there is no worker pool " + call.worker_pool_id().str() +
                   "; see: muster pools");
}

// -------------------------------------------------------------------------------------------------
// The table

std::span<const Endpoint> endpoints() {
  static const std::vector<Endpoint> table = [] {
    std::vector<Endpoint> all;
    for (const auto rows :
         {dashboard_endpoints,     host_endpoints,          fleet_read_endpoints,
          run_endpoints,           history_endpoints,       journal_endpoints,
          fleet_change_endpoints,  worker_notice_endpoints, queue_request_endpoints,
          team_endpoints,          explanation_endpoints,   payload_endpoints,
          documentation_endpoints, configuration_endpoints, configuration_difference_endpoints,
          diagnosis_endpoints,     registration_endpoints,  backup_endpoints,
          set_aside_endpoints,     client_endpoints,        session_endpoints,
          event_endpoints})
      for (Endpoint& row : rows()) all.push_back(std::move(row));
    return all;
  }();
  return table;
}

std::span<const auth::RouteScope> route_scopes() {
  static const std::vector<auth::RouteScope> scopes = [] {
    std::vector<auth::RouteScope> all;
    for (const Endpoint& endpoint : endpoints()) {
      std::vector<std::string_view> wanted;
      for (const std::string_view scope : endpoint.scopes.list())
        if (endpoint.knows_from_path(scope)) wanted.push_back(scope);
      if (wanted.size() > 1)
        throw std::logic_error(std::string(endpoint.name) +
                               " has more scopes than the guard checks");
      // The guard sees the path alone. What the body says is checked when it is read.
      all.push_back({endpoint.method, endpoint.path, wanted.empty() ? "" : wanted.front()});
    }
    return all;
  }();
  return scopes;
}

std::shared_ptr<const endpoints::Api> make_api(Services services, std::span<const Endpoint> rows) {
  return std::make_shared<const OwnApi>(std::move(services), rows);
}

void add_routes(http::Router& router, Services services) {
  const bool has_events = services.events != nullptr;
  const auto api = make_api(std::move(services), endpoints());
  for (const Endpoint& endpoint : endpoints())
    if (has_events || !needs_events(endpoint)) endpoints::add_routes(router, api, {&endpoint, 1});
}

}  // namespace muster::api
