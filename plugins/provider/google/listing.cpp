#include "plugins/provider/google/listing.hpp"

#include <algorithm>
#include <atomic>
#include <set>

#include <muster/codec.hpp>

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/parallel.hpp"
#include "plugins/provider/google/instances.hpp"
#include "plugins/provider/google/labels.hpp"
#include "plugins/provider/google/paging.hpp"
#include "plugins/provider/google/words.hpp"

namespace muster::google {
namespace {

using cloud::table_of;
using cloud::text_of;
using namespace std::chrono_literals;

constexpr std::size_t most_deleted_by_list = 50;
constexpr auto looked_back = 10min;
constexpr auto preemption_notice = 30s;

Error unreachable(const std::string& zone, const std::string& words_of_google) {
  Error error = Error::transient("Compute Engine cannot list the machines in " + zone +
                                 (words_of_google.empty() ? "" : ": " + words_of_google))
                    .with_code("UNREACHABLE");
  if (is_zone(zone)) error.scope = scope_of_zone(zone);
  if (is_region(zone)) error.scope.region = zone;
  return error;
}

// Pages of an aggregated list: calls `take` with each scope ("zones/us-central1-a") and what is in
// it; the answer has what could not be reached. If `may_stop`, a page in which `take` finds nothing
// more is the last: newer things come first.
Result<std::map<std::string, Error>> for_each_scope(
    Api& api, const Call& call, bool may_stop, const Context& context,
    const std::function<bool(const std::string&, const json::object&)>& take) {
  std::map<std::string, Error> lost;
  const auto done = for_each_page(api, call, context, [&](const json::object& answer) {
    bool has_more = !may_stop;
    if (const json::object* items = table_of(answer, "items"))
      for (const auto& [scope, value] : *items) {
        if (!value.is_object()) continue;
        const std::string zone = last_part(scope);
        if (const json::object* warning = table_of(value.get_object(), "warning"))
          if (const std::string code = text_of(*warning, "code");
              code != "NO_RESULTS_ON_PAGE" && !code.empty())
            lost.insert_or_assign(zone, unreachable(zone, text_of(*warning, "message")));
        has_more |= take(zone, value.get_object());
      }
    if (const json::value* listed = answer.if_contains("unreachables");
        listed && listed->is_array())
      for (const json::value& each : listed->get_array())
        if (each.is_string()) {
          const std::string zone = last_part(each.get_string());
          lost.try_emplace(zone, unreachable(zone, {}));
        }
    if (const json::object* warning = table_of(answer, "warning");
        warning && text_of(*warning, "code") == "UNREACHABLE" && lost.empty())
      lost.insert_or_assign("", unreachable("some zones", text_of(*warning, "message")));
    return has_more;
  });
  if (!done) return done.error();
  return lost;
}

Result<json::object> remove(Api& api, const std::string& zone, const std::string& name,
                            const Context& context) {
  return api.call({.method = "instances.delete",
                   .path = {{"zone", zone}, {"instance", name}},
                   .query = {{"requestId", request_id("delete\n" + zone + "\n" + name)}},
                   .about = scope_of_zone(zone)},
                  context);
}

// By name, which no other machine ever gets; a worker of which only the id is known by that.
std::string name_of_worker(const WorkerRef& worker) {
  const std::string name = text_of(worker.provider_data, "name");
  return name.empty() ? worker.worker_id.str() : name;
}

bool is_instance_number_text(std::string_view id) {
  return !id.empty() && id.size() <= 20 &&
         std::ranges::all_of(id, [](char letter) { return letter >= '0' && letter <= '9'; });
}

void end_stopped(const std::vector<Instance>& instances, Api& api, const Context& context) {
  std::vector<const Instance*> stopped;
  for (const Instance& instance : instances)
    if (instance.state == InstanceState::stopped && stopped.size() < most_deleted_by_list)
      stopped.push_back(&instance);
  if (stopped.empty()) return;
  std::atomic<std::size_t> failed = 0;
  cloud::in_parallel(stopped.size(), [&](std::size_t at) {
    const Instance& instance = *stopped[at];
    if (context.cancelled()) return void(++failed);
    const auto ended =
        remove(api, instance.worker_group.str(), text_of(instance.provider_data, "name"), context);
    if (!ended && ended.error().error_class != ErrorClass::not_found) ++failed;
  });
  context.log(failed > 0 ? LogLevel::warning : LogLevel::info,
              std::to_string(stopped.size()) + " stopped machines are deleted" +
                  (failed > 0 ? ", " + std::to_string(failed) + " of them without success" : ""));
}

}  // namespace

Result<Listing> list_instances(const Owner& owner, const Settings& settings, Api& api,
                               Launches& launches, const Context& context) {
  launches.refresh(context);
  Listing listing;
  const auto lost = for_each_scope(
      api,
      {.method = "instances.aggregatedList",
       .query = {{"filter", owner_filter(owner)},
                 {"maxResults", "500"},
                 {"returnPartialSuccess", "true"},
                 {"fields", std::string("items/*/instances(") + instance_fields +
                                "),items/*/warning,nextPageToken,unreachables,warning"}}},
      false, context, [&](const std::string&, const json::object& found) {
        cloud::for_each_of(found, "instances", [&](const json::object& given) {
          auto made = read_instance(given, settings.project);
          // Labels may be cut: the whole name counts.
          if (made && made->tags.at(cloud::tag::host) == owner.host_id &&
              made->tags.at(cloud::tag::provider) == owner.provider_id.str())
            listing.instances.push_back(std::move(*made));
        });
        return true;
      });
  if (!lost) return lost.error();
  for (const auto& [zone, error] : *lost)
    if (zone.empty() || settings.uses_zone(zone) || !is_zone(zone))
      listing.problems.push_back(error);
  end_stopped(listing.instances, api, context);
  std::set<WorkerId> seen;
  for (const Instance& instance : listing.instances) seen.insert(instance.worker_id);
  for (Instance& instance : launches.promised(owner, context.now()))
    if (!seen.contains(instance.worker_id)) listing.instances.push_back(std::move(instance));
  return listing;
}

Termination terminate_instances(const TerminateRequest& request, Api& api, Launches& launches,
                                const Context& context) {
  Termination termination;
  std::vector<const WorkerRef*> workers;
  for (const WorkerRef& worker : request.workers) {
    if (!cloud::belongs_to(worker.provider_data, request.owner))
      termination.failures.push_back(
          {worker.worker_group, worker.worker_id, cloud::not_yours(worker, request.owner)});
    else if (is_instance_number_text(worker.worker_id.str()) && is_zone(worker.worker_group.str()))
      workers.push_back(&worker);
  }
  std::vector<std::optional<Error>> errors(workers.size());
  cloud::in_parallel(workers.size(), [&](std::size_t at) {
    const WorkerRef& worker = *workers[at];
    if (context.cancelled()) {
      errors[at] = Error::cancelled("there was no time left to delete more");
      return;
    }
    const auto ended = remove(api, worker.worker_group.str(), name_of_worker(worker), context);
    if (ended) return;
    if (ended.error().error_class != ErrorClass::not_found)
      errors[at] = ended.error();
    else if (launches.is_promised(worker.worker_id, context.now()))
      errors[at] = Error::transient("Compute Engine does not know " + worker.worker_id.str() +
                                    " yet, whose launch is under way: it is deleted later")
                       .in_zone(worker.worker_group.str());
  });
  for (std::size_t at = 0; at < workers.size(); ++at)
    if (errors[at])
      termination.failures.push_back(
          {workers[at]->worker_group, workers[at]->worker_id, std::move(*errors[at])});
    else
      launches.ended(workers[at]->worker_id);
  return termination;
}

Result<Notices> Preemptions::collect(const Context& context) {
  const Time now = context.now();
  const Time since = std::max(seen_until_, now - looked_back);
  const auto lost = for_each_scope(
      api_,
      {.method = "globalOperations.aggregatedList",
       .query = {{"filter", "operationType = \"compute.instances.preempted\""},
                 {"maxResults", "500"},
                 {"orderBy", "creationTimestamp desc"},
                 {"returnPartialSuccess", "true"},
                 {"fields",
                  "items/*/operations(targetId,targetLink,insertTime,zone),items/*/warning,"
                  "nextPageToken"}}},
      true, context, [&](const std::string& zone, const json::object& found) {
        bool has_new = false;
        cloud::for_each_of(found, "operations", [&](const json::object& operation) {
          const auto at = parse_time(text_of(operation, "insertTime"));
          if (!at || *at < since) return;
          has_new = true;
          board_.add({WorkerGroup(zone),
                      WorkerId(text_of(operation, "targetId")),
                      {*at + preemption_notice, "preempted by Google"}});
        });
        return has_new;
      });
  if (!lost) return lost.error();
  // A zone that could not be asked is asked about the same time again.
  if (lost->empty()) seen_until_ = now - 1min;
  return board_.notices(now);
}

}  // namespace muster::google
