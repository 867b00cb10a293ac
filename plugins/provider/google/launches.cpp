#include "plugins/provider/google/launches.hpp"

#include <algorithm>

#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/google/google_errors.hpp"
#include "plugins/provider/google/instances.hpp"
#include "plugins/provider/google/paging.hpp"
#include "plugins/provider/google/words.hpp"

namespace muster::google {
namespace {

using cloud::for_each_of;
using cloud::text_of;
using namespace std::chrono_literals;

constexpr std::size_t operations_of_call = 50;  // names in one filter
constexpr auto failures_told_for = 5min;
constexpr auto promised_for = 15min;
constexpr auto hold_of_trouble = 30s;

// As narrow as can be: a launch configuration may have thousands of machines.
std::string filter_for(const LaunchCall& call) {
  if (call.keys.size() == 1) return "name = \"" + call.keys.front().name + "\"";
  if (const auto id = call.call.query.find("requestId");
      call.is_bulk && id != call.call.query.end())
    return call_filter(call.owner, id->second);
  return launch_config_filter(call.owner, call.launch_config_id);
}

bool is_open(const LaunchCall& call, Time now) {
  return !call.done && now < call.made + promised_for;
}

Error not_made(const LaunchCall& call, std::size_t made) {
  return Error::capacity("Compute Engine made " + std::to_string(made) + " of " +
                         std::to_string(call.keys.size()) + " machines of type " +
                         call.type_and_market + " in " + call.zone +
                         " and does not say why; it may have no more there at the moment")
      .in_region(region_of_zone(call.zone))
      .in_zone(call.zone)
      .of_instance_type(call.type_and_market)
      .hold_for(180s)
      .with_code("bulkInsert");
}

}  // namespace

bool is_already_there(const Error& error) {
  return error.code == "RESOURCE_ALREADY_EXISTS" || error.code == "alreadyExists" ||
         error.code == "ALREADY_EXISTS" || error.code == "duplicate" || error.code == "conflict";
}

cloud::ErrorTable Launches::error_table_of_google() {
  return error_table();
}

LaunchCall& Launches::add(LaunchCall call) {
  LaunchCall& added = calls_.emplace_back(std::move(call));
  for (const KeyedLaunch& launch : added.keys) by_key_[launch.key] = &added;
  return added;
}

LaunchCall* Launches::call_of(const IdempotencyKey& key) {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second;
}

KeyedLaunch* Launches::find(const IdempotencyKey& key) {
  LaunchCall* call = call_of(key);
  if (!call) return nullptr;
  const auto at = std::ranges::find(call->keys, key, &KeyedLaunch::key);
  return at == call->keys.end() ? nullptr : &*at;
}

void Launches::forget_older_than(Time time) {
  while (!calls_.empty() && calls_.front().made < time) {
    for (const KeyedLaunch& launch : calls_.front().keys)
      if (const auto found = by_key_.find(launch.key);
          found != by_key_.end() && found->second == &calls_.front())
        by_key_.erase(found);
    calls_.pop_front();
  }
}

void Launches::refresh(const Context& context) {
  std::vector<std::string> zones;
  for (const LaunchCall& call : calls_)
    if (!call.done && !call.operation.empty() && std::ranges::find(zones, call.zone) == zones.end())
      zones.push_back(call.zone);
  for (const std::string& zone : zones)
    if (context.cancelled() || !refresh_zone(zone, context)) continue;
}

Result<void> Launches::refresh_zone(const std::string& zone, const Context& context) {
  std::vector<LaunchCall*> open;
  for (LaunchCall& call : calls_)
    if (!call.done && !call.operation.empty() && call.zone == zone) open.push_back(&call);
  for (std::size_t from = 0; from < open.size(); from += operations_of_call) {
    std::map<std::string, LaunchCall*> asked;
    std::string filter;
    for (std::size_t at = from; at < std::min(open.size(), from + operations_of_call); ++at) {
      asked.emplace(open[at]->operation, open[at]);
      filter += (filter.empty() ? "" : " OR ") + ("(name = \"" + open[at]->operation + "\")");
    }
    std::vector<json::object> ended;
    const auto done =
        for_each_page(api_,
                      {.method = "zoneOperations.list",
                       .path = {{"zone", zone}},
                       .query = {{"filter", filter}, {"maxResults", "500"}},
                       .about = scope_of_zone(zone)},
                      context, [&](const json::object& answer) {
                        for_each_of(answer, "items", [&](const json::object& operation) {
                          if (text_of(operation, "status") == "DONE") ended.push_back(operation);
                        });
                        return true;
                      });
    if (!done) {
      context.log(LogLevel::warning,
                  "the operations in " + zone + " are not known: " + done.error().message);
      return done.error();
    }
    for (const json::object& operation : ended)
      if (const auto found = asked.find(text_of(operation, "name")); found != asked.end())
        settle(*found->second, operation, context);
  }
  return {};
}

void Launches::fail(LaunchCall& call, KeyedLaunch& launch, Error error, const Context& context) {
  launch.instance.reset();
  launch.error = std::move(error);
  if (launch.was_answered) failed_.push_back({{launch.key, *launch.error}, context.now()});
  context.log(LogLevel::info,
              launch.name + " in " + call.zone + " failed: " + launch.error->message);
}

// What has ended is no trouble that passes by itself: there is no machine, and there will be none.
// The host must not wait for it.
Error Launches::error_of_ended(const LaunchCall& call, const std::string& what,
                               const cloud::CloudError& said) const {
  Error error = classify(errors_, what, said, call.call.about);
  if (error.error_class != ErrorClass::transient && error.error_class != ErrorClass::internal)
    return error;
  return Error::capacity(error.message)
      .of_launch_config(call.launch_config_id.str())
      .hold_for(hold_of_trouble)
      .with_code(error.code);
}

// The operation has ended, well or not.
void Launches::settle(LaunchCall& call, const json::object& operation, const Context& context) {
  if (call.is_bulk) return settle_bulk(call, operation, context);
  KeyedLaunch& launch = call.keys.front();
  if (const auto said = error_of_operation(operation)) {
    Error error = error_of_ended(call, "the launch of " + launch.name, *said);
    if (is_already_there(error)) {
      launch.instance.reset();
      if (!find_machines(call, context)) return;
      if (launch.instance) return void(call.done = true);
    }
    fail(call, launch, std::move(error), context);
  }
  call.done = true;
}

void Launches::settle_bulk(LaunchCall& call, const json::object& operation,
                           const Context& context) {
  LaunchCall now = call;  // a machine that was there may have failed since
  for (KeyedLaunch& launch : now.keys) launch.instance.reset();
  if (!find_machines(now, context)) return;  // asked again the next time
  const auto made = static_cast<std::size_t>(std::ranges::count_if(
      now.keys, [](const KeyedLaunch& launch) { return launch.instance.has_value(); }));
  std::map<std::string, Error> errors;
  if (made < call.keys.size()) errors = errors_of_group(call, context);
  if (std::ranges::any_of(errors, [](const auto& each) { return is_already_there(each.second); })) {
    now.is_bulk = false;  // machines of an earlier call do not have the label of this one
    if (!find_machines(now, context)) return;
  }
  const auto said = error_of_operation(operation);
  const Error general = said             ? error_of_ended(call, "bulkInsert in " + call.zone, *said)
                        : errors.empty() ? not_made(call, made)
                                         : errors.begin()->second;
  for (std::size_t at = 0; at < call.keys.size(); ++at) {
    KeyedLaunch& launch = call.keys[at];
    const auto own = errors.find(launch.name);
    if (now.keys[at].instance)
      launch.instance = std::move(now.keys[at].instance);
    else if (own != errors.end())
      launch.instance.reset();
    if (launch.instance || launch.error) continue;  // without an error it was there and has ended
    fail(call, launch, own == errors.end() ? general : own->second, context);
  }
  call.done = true;
}

// By machine name: why it was not made.
std::map<std::string, Error> Launches::errors_of_group(const LaunchCall& call,
                                                       const Context& context) {
  std::map<std::string, Error> errors;
  if (call.group.empty()) return errors;
  const auto done = for_each_page(
      api_,
      {.method = "zoneOperations.list",
       .path = {{"zone", call.zone}},
       .query = {{"filter", "operationGroupId = \"" + call.group + "\""}, {"maxResults", "500"}},
       .about = scope_of_zone(call.zone)},
      context, [&](const json::object& answer) {
        for_each_of(answer, "items", [&](const json::object& operation) {
          const auto said = error_of_operation(operation);
          if (!said) return;
          const std::string name = last_part(text_of(operation, "targetLink"));
          errors.emplace(name, error_of_ended(call, "the launch of " + name, *said));
        });
        return true;
      });
  if (!done) context.log(LogLevel::warning, done.error().message);
  return errors;
}

Result<void> Launches::find_machines(LaunchCall& call, const Context& context) {
  return for_each_page(
      api_,
      {.method = "instances.list",
       .path = {{"zone", call.zone}},
       .query = {{"filter", filter_for(call)},
                 {"maxResults", "500"},
                 {"fields", std::string("items(") + instance_fields + "),nextPageToken"}},
       .about = scope_of_zone(call.zone)},
      context, [&](const json::object& answer) {
        for_each_of(answer, "items", [&](const json::object& given) {
          const std::string name = text_of(given, "name");
          const auto launch = std::ranges::find(call.keys, name, &KeyedLaunch::name);
          if (launch == call.keys.end()) return;
          if (auto instance = read_instance(given, project_)) {
            instance->idempotency_key = launch->key;
            launch->instance = std::move(*instance);
          }
        });
        return true;
      });
}

std::vector<Instance> Launches::promised(const Owner& owner, Time now) const {
  std::vector<Instance> found;
  for (const LaunchCall& call : calls_)
    if (is_open(call, now) && call.owner.host_id == owner.host_id &&
        call.owner.provider_id == owner.provider_id)
      for (const KeyedLaunch& launch : call.keys)
        if (launch.instance) found.push_back(*launch.instance);
  return found;
}

bool Launches::is_promised(const WorkerId& id, Time now) const {
  return std::ranges::any_of(calls_, [&](const LaunchCall& call) {
    return is_open(call, now) && std::ranges::any_of(call.keys, [&](const KeyedLaunch& launch) {
             return launch.instance && launch.instance->worker_id == id;
           });
  });
}

void Launches::ended(const WorkerId& id) {
  for (LaunchCall& call : calls_)
    if (!call.done && !call.is_bulk && call.keys.front().instance &&
        call.keys.front().instance->worker_id == id)
      call.done = true;
}

std::vector<Notices::FailedLaunch> Launches::failed_later(Time now) {
  std::erase_if(failed_,
                [&](const Failed& failed) { return failed.at + failures_told_for <= now; });
  std::vector<Notices::FailedLaunch> launches;
  for (const Failed& failed : failed_) launches.push_back(failed.launch);
  return launches;
}

}  // namespace muster::google
