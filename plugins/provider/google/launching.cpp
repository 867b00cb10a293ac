#include "plugins/provider/google/launching.hpp"

#include <algorithm>

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/parallel.hpp"
#include "plugins/provider/google/instances.hpp"
#include "plugins/provider/google/launch_body.hpp"
#include "plugins/provider/google/section.hpp"
#include "plugins/provider/google/words.hpp"

namespace muster::google {
namespace {

using cloud::text_of;
using namespace std::chrono_literals;

constexpr auto calls_kept_for = 2h;
// For an operation that fails at once, and for the machines of a bulkInsert to be there.
constexpr auto wait_for_failures = 2s, wait_for_machines = 10s;
constexpr std::chrono::milliseconds first_pause = 300ms, longest_pause = 2s;

// The machine as it was asked for, before any list has it.
Instance promised_instance(const LaunchCall& call, const KeyedLaunch& launch, const std::string& id,
                           const std::string& project, const Context& context) {
  json::object given = *call.call.body;
  given["id"] = id;
  given["zone"] = call.zone;
  given["status"] = "PROVISIONING";
  auto made = read_instance(given, project);
  if (!made) return {};
  made->idempotency_key = launch.key;
  made->created = context.now();
  return std::move(*made);
}

Error not_clear(const LaunchCall& call) {
  return Error::transient("Compute Engine is still making this machine in " + call.zone +
                          " and has not named it yet")
      .of_launch_config(call.launch_config_id.str())
      .hold_for(1s);
}

bool is_settled(const LaunchCall& call) {
  return call.done || call.operation.empty();
}

bool has_all_machines(const LaunchCall& call) {
  return std::ranges::all_of(
      call.keys, [](const KeyedLaunch& launch) { return launch.instance || launch.error; });
}

}  // namespace

Result<Allocation> Launcher::allocate(const AllocateRequest& request, const Context& context) {
  const std::string id = request.launch_config.launch_config_id.str();
  const auto machine = cloud::read_machine(words, request.launch_config);
  if (!machine) return machine.error();
  if (!settings_.uses_zone(machine->zone))
    return Error::config("zone " + machine->zone + " is not one of the provider's (any more)")
        .of_launch_config(id);
  launches_.forget_older_than(context.now() - calls_kept_for);
  unsent_.clear();
  if (const auto added = add_calls(request, *machine, context); !added) return added.error();
  std::vector<LaunchCall*> calls, unsent;
  for (const IdempotencyKey& key : request.idempotency_keys)
    if (LaunchCall* call = launches_.call_of(key); std::ranges::find(calls, call) == calls.end()) {
      calls.push_back(call);
      if (call->operation.empty() && !call->done) unsent.push_back(call);
    }
  send(unsent, *machine, context);
  calls.clear();
  for (const IdempotencyKey& key : request.idempotency_keys)
    if (LaunchCall* call = launches_.call_of(key); std::ranges::find(calls, call) == calls.end())
      calls.push_back(call);
  follow(calls, machine->zone, context);
  Allocation allocation;
  for (const IdempotencyKey& key : request.idempotency_keys) {
    KeyedLaunch& launch = *launches_.find(key);
    const LaunchCall& call = *launches_.call_of(key);
    Launch answer{.idempotency_key = key};
    if (launch.instance)
      answer.instance = launch.instance;
    else if (launch.error)
      answer.error = launch.error;
    else if (const auto error = unsent_.find(&call); error != unsent_.end())
      answer.error = error->second;
    else
      answer.error = not_clear(call);
    launch.was_answered = true;
    allocation.launches.push_back(std::move(answer));
  }
  return allocation;
}

// Keys that are not remembered get calls; those that an earlier process may have used are looked
// for first.
Result<void> Launcher::add_calls(const AllocateRequest& request, const cloud::Machine& machine,
                                 const Context& context) {
  std::vector<IdempotencyKey> repeated;
  for (const IdempotencyKey& key : request.repeated_keys)
    if (!launches_.call_of(key) && std::ranges::find(repeated, key) == repeated.end())
      repeated.push_back(key);
  if (!repeated.empty()) adopt(request, machine, repeated, context);
  std::vector<IdempotencyKey> many, alone;
  for (const IdempotencyKey& key : request.idempotency_keys) {
    if (launches_.call_of(key) || std::ranges::find(many, key) != many.end() ||
        std::ranges::find(alone, key) != alone.end())
      continue;
    // By its own name and requestId the call of an earlier process is met, whatever it was.
    const bool by_itself =
        std::ranges::find(repeated, key) != repeated.end() || !name_of(request.owner, key).has_key;
    (by_itself ? alone : many).push_back(key);
  }
  if (many.empty() && alone.empty()) return {};
  const auto body = launch_body(machine, request, settings_);
  if (!body) return body.error();
  const LaunchLimits& limits = settings_.launch_limits;
  if (limits.bulk_from == 0 || many.size() < limits.bulk_from || !fits_bulk(*body)) {
    alone.insert(alone.end(), many.begin(), many.end());
    many.clear();
  }
  for (std::size_t from = 0; from < many.size(); from += limits.per_call) {
    const auto begin = many.begin() + static_cast<std::ptrdiff_t>(from);
    const auto count = std::min(limits.per_call, many.size() - from);
    launches_.add(make_call(request, machine, {begin, begin + static_cast<std::ptrdiff_t>(count)},
                            *body, true, context));
  }
  for (const IdempotencyKey& key : alone)
    launches_.add(make_call(request, machine, {key}, *body, false, context));
  return {};
}

LaunchCall Launcher::make_call(const AllocateRequest& request, const cloud::Machine& machine,
                               const std::vector<IdempotencyKey>& keys, const json::object& body,
                               bool is_bulk, const Context& context) const {
  LaunchCall call{
      .zone = machine.zone,
      .owner = request.owner,
      .launch_config_id = request.launch_config.launch_config_id,
      .call = {.method = is_bulk ? "instances.bulkInsert" : "instances.insert",
               .path = {{"zone", machine.zone}},
               .about = {.region = machine.region,
                         .zone = machine.zone,
                         .instance_type = machine.type_and_market(),
                         .launch_config_id = request.launch_config.launch_config_id.str()}},
      .keys = {},
      .is_bulk = is_bulk,
      .made = context.now(),
      .type_and_market = machine.type_and_market()};
  std::vector<std::string> names;
  bool has_keys = true;
  for (const IdempotencyKey& key : keys) {
    const MachineName name = name_of(request.owner, key);
    has_keys &= name.has_key;
    names.push_back(name.text);
    call.keys.push_back({.key = key, .name = name.text});
  }
  std::string all = machine.zone;
  for (const std::string& name : names) all += "\n" + name;
  const std::string id = request_id(all);
  call.call.query["requestId"] = id;
  if (is_bulk) {
    json::object labelled = body;
    cloud::table_in(labelled, "labels")[tag::call] = id;
    call.call.body = bulk_body(std::move(labelled), machine, names);
  } else {
    call.call.body = insert_body(body, machine, names.front(), has_keys ? nullptr : &keys.front());
  }
  return call;
}

// Machines that are there. What is not found is launched by its name, which Google has once.
void Launcher::adopt(const AllocateRequest& request, const cloud::Machine& machine,
                     const std::vector<IdempotencyKey>& keys, const Context& context) {
  LaunchCall sought{.zone = machine.zone,
                    .owner = request.owner,
                    .launch_config_id = request.launch_config.launch_config_id,
                    .call = {},
                    .keys = {},
                    .made = context.now()};
  for (const IdempotencyKey& key : keys)
    sought.keys.push_back({.key = key, .name = name_of(request.owner, key).text});
  if (const auto found = launches_.find_machines(sought, context); !found)
    context.log(LogLevel::warning,
                "machines of an earlier start are not known: " + found.error().message);
  for (KeyedLaunch& launch : sought.keys) {
    if (!launch.instance) continue;
    LaunchCall call = sought;
    call.keys = {std::move(launch)};
    call.done = true;
    launches_.add(std::move(call));
  }
}

void Launcher::send(const std::vector<LaunchCall*>& calls, const cloud::Machine& machine,
                    const Context& context) {
  std::vector<Result<json::object>> answers(calls.size());
  cloud::in_parallel(calls.size(), [&](std::size_t at) {
    answers[at] =
        context.cancelled()
            ? Result<json::object>(Error::cancelled("there was no time left to launch more"))
            : api_.call(calls[at]->call, context);
  });
  std::vector<LaunchCall*> again;
  for (std::size_t at = 0; at < calls.size(); ++at) {
    LaunchCall& call = *calls[at];
    if (!answers[at] && call.is_bulk && is_already_there(answers[at].error())) {
      std::ranges::move(split(call, machine, context), std::back_inserter(again));
      continue;
    }
    take_answer(call, answers[at], context);
    const auto count = static_cast<std::int64_t>(call.keys.size());
    if (!call.operation.empty()) {
      history_.launched(machine, count, context.now());
      quotas_.debit(machine, count, context.now());
    } else if (call.done && !call.keys.front().instance) {
      history_.failed(machine, count, context.now());
    }
  }
  if (!again.empty()) send(again, machine, context);
}

void Launcher::take_answer(LaunchCall& call, const Result<json::object>& answer,
                           const Context& context) {
  if (answer) {
    call.operation = text_of(*answer, "name");
    call.group = text_of(*answer, "operationGroupId");
    const std::string id = text_of(*answer, "targetId");
    if (call.operation.empty()) {
      unsent_.insert_or_assign(
          &call, Error::transient("Compute Engine answered a launch without an operation"));
      return;
    }
    if (call.is_bulk || id.empty()) return;
    KeyedLaunch& launch = call.keys.front();
    Instance promised = promised_instance(call, launch, id, settings_.project, context);
    if (!promised.worker_id.empty()) launch.instance = std::move(promised);
    return;
  }
  const Error& error = answer.error();
  if (is_already_there(error)) {
    const auto found = launches_.find_machines(call, context);
    call.done = found && has_all_machines(call);
    if (!call.done) unsent_.insert_or_assign(&call, error);
    return;
  }
  const bool is_final =
      error.error_class != ErrorClass::transient && error.error_class != ErrorClass::internal &&
      error.error_class != ErrorClass::throttle && error.error_class != ErrorClass::cancelled;
  if (!is_final) return void(unsent_.insert_or_assign(&call, error));
  Error said = error;
  // Something that the launch names is not there: no machine is meant.
  if (said.error_class == ErrorClass::not_found) said.error_class = ErrorClass::config;
  for (KeyedLaunch& launch : call.keys) launch.error = said;
  call.done = true;
}

// One of the names is taken: each is tried by itself.
std::vector<LaunchCall*> Launcher::split(LaunchCall& bulk, const cloud::Machine& machine,
                                         const Context& context) {
  std::vector<LaunchCall*> made;
  const json::object body = bulk.call.body->at("instanceProperties").as_object();
  for (const KeyedLaunch& launch : bulk.keys) {
    LaunchCall single = bulk;
    single.is_bulk = false;
    single.keys = {launch};
    single.call.method = "instances.insert";
    single.call.query["requestId"] = request_id(bulk.zone + "\n" + launch.name);
    single.call.body = insert_body(body, machine, launch.name, nullptr);
    single.made = context.now();
    made.push_back(&launches_.add(std::move(single)));
  }
  bulk.done = true;
  return made;
}

// Never one call for each machine: the operations of the zone, and the machines of a bulkInsert by
// their launch configuration.
void Launcher::follow(const std::vector<LaunchCall*>& calls, const std::string& zone,
                      const Context& context) {
  std::chrono::milliseconds waited{0}, pause = first_pause;
  while (!context.cancelled()) {
    const bool lacks_machines = std::ranges::any_of(calls, [](const LaunchCall* call) {
      return !is_settled(*call) && !has_all_machines(*call);
    });
    if (std::ranges::all_of(calls, [](const LaunchCall* call) { return is_settled(*call); }))
      return;
    if (waited >= (lacks_machines ? wait_for_machines : wait_for_failures)) return;
    if (context.time_left() < pause * 4 || !api_.pause(pause, context)) return;
    waited += pause;
    pause = std::min(pause * 2, longest_pause);
    if (!launches_.refresh_zone(zone, context)) return;
    for (LaunchCall* call : calls)
      if (!is_settled(*call) && !has_all_machines(*call) &&
          !launches_.find_machines(*call, context))
        return;
  }
}

}  // namespace muster::google
