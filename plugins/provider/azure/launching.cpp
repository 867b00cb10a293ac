#include "plugins/provider/azure/launching.hpp"

#include <algorithm>
#include <mutex>
#include <set>

#include "lib/hawk/hawk.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/parallel.hpp"
#include "plugins/provider/azure/targets.hpp"
#include "plugins/provider/azure/virtual_machines.hpp"

namespace muster::azure {
namespace {

using namespace std::chrono_literals;
using cloud::table_of;
using cloud::text_of;
constexpr auto launches_kept_for = 2h;

// Whether another call for the same machines would end in the same way.
bool ends_all(const Error& error) {
  return error.error_class != ErrorClass::transient && error.error_class != ErrorClass::internal &&
         error.error_class != ErrorClass::not_found;
}

// Azure says in several ways that the name is taken.
bool says_that_it_exists(const Error& error) {
  return error.code == "PreconditionFailed" || error.code == "PropertyChangeNotAllowed" ||
         error.code == "DeploymentActive" || error.code == "ResourceExists";
}

Error not_seen(const LaunchConfigId& launch_config) {
  return Error::transient(
             "an earlier call may have launched this worker, and Azure does not list it; it is not "
             "launched a second time")
      .of_launch_config(launch_config.str())
      .hold_for(1s);
}

bool is_deployment(const cloud::Machine& machine) {
  return machine.section->contains("armDeployment");
}

}  // namespace

ErrorScope scope_of(const cloud::Machine& machine, const LaunchConfigId& launch_config) {
  ErrorScope scope{.region = machine.region,
                   .zone = {},
                   .instance_type = machine.type_and_market(),
                   .launch_config_id = launch_config.str()};
  if (!machine.zone.empty()) scope.zone = machine.zone;
  return scope;
}

// One worker to launch.
struct Launcher::Job {
  const cloud::Machine& machine;
  IdempotencyKey key;
  Names names;
  std::string group = {};
  cloud::Tags tags = {};
  Call call = {};
  bool was_sent = false;
  std::optional<Instance> instance = {};
  Answer answer = {};
  std::optional<Error> error = {};

  // As Azure will show it: the answer lacks what was not made yet.
  json::object expected() const {
    json::object properties{{"hardwareProfile", json::object{{"vmSize", machine.instance_type}}},
                            {"priority", machine.market},
                            {"provisioningState", "Creating"}};
    json::object document{{"name", names.machine()},
                          {"location", machine.region},
                          {"tags", tags_document(tags)},
                          {"properties", std::move(properties)}};
    if (!machine.zone.empty())
      document["zones"] = json::array{json::value(zone_number(machine.zone))};
    return document;
  }
};

Result<Allocation> Launcher::allocate(const AllocateRequest& request, const Context& context) {
  const auto machine = cloud::read_machine(words, request.launch_config);
  if (!machine) return machine.error();
  const std::string launch_config = request.launch_config.launch_config_id.str();
  if (!settings_.uses(machine->region))
    return Error::config("location " + machine->region +
                         " is not in the provider's locations (any more)")
        .of_launch_config(launch_config);
  const auto user_data =
      cloud::make_user_data(words, user_data_limits, *machine, launch_config, request.registration);
  if (!user_data) return user_data.error();
  std::erase_if(kept_, [&](const auto& entry) {
    return entry.second.at + launches_kept_for < context.now();
  });
  Outcomes outcomes;
  for (const IdempotencyKey& key : request.idempotency_keys)
    if (const auto kept = kept_.find(key); kept != kept_.end() && kept->second.instance)
      outcomes[key] = {.idempotency_key = key, .instance = kept->second.instance};
  look_up(request, *machine, outcomes, context);
  launch_all(request, *machine, *user_data, outcomes, context);
  Allocation allocation;
  for (const IdempotencyKey& key : request.idempotency_keys)
    allocation.launches.push_back(outcomes.at(key));
  return allocation;
}

// Keys of an earlier process: one list answers for all of them.
void Launcher::look_up(const AllocateRequest& request, const cloud::Machine& machine,
                       Outcomes& outcomes, const Context& context) {
  std::map<std::string, IdempotencyKey> wanted;
  for (const IdempotencyKey& key : request.repeated_keys)
    if (!kept_.contains(key) && !outcomes.contains(key)) {
      outcomes[key] = {.idempotency_key = key,
                       .error = not_seen(request.launch_config.launch_config_id)};
      wanted.emplace(names_of(request.owner, key).machine(), key);
    }
  if (wanted.empty()) return;
  const std::string group = settings_.group_of(machine.region);
  const auto take = [&](const json::object& document) {
    auto read = read_virtual_machine(document, group, settings_);
    if (!read) return;
    const auto found = wanted.find(read->instance.worker_id.str());
    if (found == wanted.end()) return;
    read->instance.idempotency_key = found->second;
    outcomes[found->second] = {.idempotency_key = found->second, .instance = read->instance};
  };
  const auto listed = for_each_listed(
      api_, {.target = list_target(settings_.group_path(group), type::machines, version::compute)},
      take, context);
  if (listed) return;
  for (const auto& [name, key] : wanted)
    outcomes[key] = {.idempotency_key = key, .error = Error::transient(listed.error().message)};
}

void Launcher::launch_all(const AllocateRequest& request, const cloud::Machine& machine,
                          const std::string& user_data, Outcomes& outcomes,
                          const Context& context) {
  const std::string encoded = hawk::base64(user_data);
  const std::string group = settings_.group_of(machine.region);
  std::vector<Job> jobs;
  for (const IdempotencyKey& key : request.idempotency_keys) {
    if (outcomes.contains(key)) continue;
    outcomes[key] = {.idempotency_key = key};
    Job job{.machine = machine, .key = key, .names = names_of(request.owner, key), .group = group};
    job.tags = machine_tags(request, machine, key);
    const LaunchParts parts{machine, job.names, job.tags, encoded};
    const bool by_template = is_deployment(machine);
    job.call = {.method = "PUT",
                .target = by_template ? target_of(settings_.group_path(group), type::deployments,
                                                  job.names.deployment(), version::resources)
                                      : target_of(settings_.group_path(group), type::machines,
                                                  job.names.machine(), version::compute),
                .body = by_template ? deployment_body(parts) : machine_body(parts),
                .only_if_new = !by_template,
                .about = scope_of(machine, request.launch_config.launch_config_id)};
    jobs.push_back(std::move(job));
  }
  std::mutex mutex;
  std::optional<Error> final_error;
  cloud::in_parallel(jobs.size(), [&](std::size_t at) {
    Job& job = jobs[at];
    {
      const std::lock_guard lock(mutex);
      job.error = final_error;
    }
    if (!job.error && context.cancelled())
      job.error = Error::cancelled("there was no time left to launch more");
    if (job.error) return;
    put(job, context);
    if (!job.error || !ends_all(*job.error)) return;
    const std::lock_guard lock(mutex);
    final_error = job.error;
  });
  for (Job& job : jobs) {
    note(job, machine, context.now());
    outcomes[job.key] = {.idempotency_key = job.key, .instance = job.instance, .error = job.error};
  }
}

// Called for several jobs at a time.
void Launcher::put(Job& job, const Context& context) const {
  job.was_sent = true;
  auto answer = api_.call(job.call, context);
  if (!answer && !says_that_it_exists(answer.error())) {
    job.error = answer.error();
    return;
  }
  if (!answer) {
    auto existing = read_existing(job, answer.error(), context);
    if (existing)
      job.instance = std::move(*existing);
    else
      job.error = existing.error();
    return;
  }
  json::object document = job.expected();
  if (table_of(answer->body, "properties") && !is_deployment(job.machine)) {
    json::object made = answer->body;
    made["tags"] = document["tags"];
    made["name"] = document["name"];
    cloud::set_default(made, "location", document["location"]);
    document = std::move(made);
  }
  auto read = read_virtual_machine(document, job.group, settings_);
  if (!read) {
    job.error = Error::transient("Azure answered the launch of " + job.names.machine() +
                                 " with a document that is no machine")
                    .with_code(bad_answer_code);
    return;
  }
  job.instance = std::move(read->instance);
  job.answer = std::move(*answer);
}

// The machine is there: of an earlier call whose answer was lost, or of somebody else.
Result<Instance> Launcher::read_existing(const Job& job, const Error& refusal,
                                         const Context& context) const {
  const auto answer =
      api_.call({.target = target_of(settings_.group_path(job.group), type::machines,
                                     job.names.machine(), version::compute),
                 .about = job.call.about},
                context);
  if (!answer && answer.error().error_class == ErrorClass::not_found &&
      is_deployment(job.machine)) {
    auto read = read_virtual_machine(job.expected(), job.group, settings_);
    if (read) return std::move(read->instance);
  }
  if (!answer)
    return answer.error().error_class == ErrorClass::not_found ? refusal : answer.error();
  auto read = read_virtual_machine(answer->body, job.group, settings_);
  if (read && read->instance.idempotency_key == job.key) return std::move(read->instance);
  return Error::config("there is a machine " + job.names.machine() + " in the resource group " +
                       job.group + " that was not launched for this worker; remove it")
      .of_launch_config(job.call.about.launch_config_id.value_or(""));
}

void Launcher::note(Job& job, const cloud::Machine& machine, Time now) {
  if (job.instance) {
    if (job.instance->created == Time{}) job.instance->created = now;
    job.instance->idempotency_key = job.key;
    if (is_deployment(machine)) {
      job.instance->provider_data["deployment"] = job.names.deployment();
      parts_.deployments.begun(job.group);
    }
    kept_[job.key] = {job.instance, now};
    if (job.instance->state != InstanceState::stopped) parts_.recent.launched(*job.instance, now);
    parts_.follower.follow(*job.instance, job.answer, job.call.about, now);
    parts_.quotas.debit(machine, now);
    parts_.history.launched(machine, 1, now);
    return;
  }
  if (job.was_sent) parts_.leftovers.suspect(job.group);
  if (job.was_sent && !ends_all(*job.error)) kept_[job.key] = {std::nullopt, now};
  if (!job.was_sent || !ends_all(*job.error)) return;
  parts_.history.failed(machine, 1, now);
  job.error = parts_.quotas.explain(std::move(*job.error), machine);
  if (!is_allocation_failure(*job.error)) return;
  parts_.late.add(*job.error, now, now);
  parts_.late.told(*job.error);
}

}  // namespace muster::azure
