#include "plugins/provider/azure/launch_follower.hpp"

#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/azure/targets.hpp"

namespace muster::azure {
namespace {

using namespace std::chrono_literals;
using cloud::table_of;
using cloud::text_of;

constexpr auto first_question = 5s, between_questions = 10s;
constexpr auto followed_for = 1h;
constexpr auto reports_kept_for = 2h;
// With more than these, one list costs less than all of their operations.
constexpr std::size_t most_single_questions = 8;

bool is_failure(const std::string& status) {
  return status == "Failed" || status == "Canceled";
}

ErrorScope scope_of(const Instance& instance) {
  const json::object& data = instance.provider_data;
  ErrorScope scope{.region = instance.worker_group.str(),
                   .zone = {},
                   .instance_type = cloud::type_and_market(text_of(data, "size"),
                                                           text_of(data, "market") == "Spot"),
                   .launch_config_id = instance.launch_config_id.str()};
  if (const std::string zone = text_of(data, "zone"); !zone.empty()) scope.zone = zone;
  return scope;
}

}  // namespace

void LaunchFollower::follow(const Instance& instance, const Answer& answer, const ErrorScope& about,
                            Time now) {
  std::erase_if(reported_,
                [&](const auto& entry) { return entry.second + reports_kept_for < now; });
  if (answer.operation.empty()) return;
  followed_[instance.worker_id] = {instance.idempotency_key, answer.operation, about,
                                   now + answer.retry_after.value_or(first_question),
                                   now + followed_for};
}

void LaunchFollower::check(const Context& context) {
  const Time now = context.now();
  std::erase_if(followed_, [&](const auto& entry) { return entry.second.until <= now; });
  std::vector<WorkerId> due;
  for (const auto& [worker, followed] : followed_)
    if (followed.ask_at <= now) due.push_back(worker);
  if (due.size() > most_single_questions) return ask_lists(context);
  for (const WorkerId& worker : due)
    if (!context.cancelled()) ask(worker, context);
}

void LaunchFollower::ask(const WorkerId& worker, const Context& context) {
  Followed& followed = followed_.at(worker);
  const auto answer = api_.call({.target = followed.operation, .about = followed.about}, context);
  followed.ask_at = context.now() + between_questions;
  if (!answer) {
    // An operation that Azure has forgotten is over; the list says how it ended.
    if (answer.error().error_class == ErrorClass::not_found) settled(worker);
    return;
  }
  if (answer->retry_after) followed.ask_at = context.now() + *answer->retry_after;
  const std::string status = text_of(answer->body, "status");
  if (is_failure(status)) {
    report(worker, followed.key, innermost_error(answer->body), followed.about, context.now());
    return;
  }
  if (status == "Succeeded" || (status.empty() && answer->status != 202)) settled(worker);
}

void LaunchFollower::ask_lists(const Context& context) {
  std::vector<VirtualMachine> ended;
  for (const std::string& group : settings_.groups()) {
    const auto listed = for_each_listed(
        api_,
        {.target = list_target(settings_.group_path(group), type::machines, version::compute)},
        [&](const json::object& document) {
          const auto followed = followed_.find(WorkerId(text_of(document, "name")));
          const json::object* properties = table_of(document, "properties");
          if (followed == followed_.end() || !properties) return;
          const std::string state = text_of(*properties, "provisioningState");
          if (state == "Succeeded") followed_.erase(followed);
          if (!is_failure(state)) return;
          if (auto machine = read_virtual_machine(document, group, settings_))
            ended.push_back(std::move(*machine));
        },
        context);
    if (!listed) context.log(LogLevel::debug, listed.error().message);
  }
  for (auto& [worker, followed] : followed_) followed.ask_at = context.now() + between_questions;
  for (const VirtualMachine& machine : ended) failed(machine, context);
}

std::optional<cloud::CloudError> LaunchFollower::reason_of(const Followed& followed,
                                                           const Context& context) {
  const auto answer = api_.call({.target = followed.operation, .about = followed.about}, context);
  if (!answer || !is_failure(text_of(answer->body, "status"))) return std::nullopt;
  return innermost_error(answer->body);
}

void LaunchFollower::failed(const VirtualMachine& machine, const Context& context) {
  const Instance& instance = machine.instance;
  if (reported_.contains(instance.worker_id)) return;
  const auto found = followed_.find(instance.worker_id);
  std::optional<cloud::CloudError> said = machine.failure;
  if ((!said || said->code.empty()) && found != followed_.end())
    said = reason_of(found->second, context);
  // Somebody has stopped it, or it failed before this process began.
  if (!said) {
    settled(instance.worker_id);
    return;
  }
  report(instance.worker_id, instance.idempotency_key, *said,
         found == followed_.end() ? scope_of(instance) : found->second.about, context.now());
}

void LaunchFollower::failed(const Instance& instance, const json::object& error,
                            const Context& context) {
  if (reported_.contains(instance.worker_id)) return;
  const auto found = followed_.find(instance.worker_id);
  report(instance.worker_id, instance.idempotency_key, innermost_error(error),
         found == followed_.end() ? scope_of(instance) : found->second.about, context.now());
}

void LaunchFollower::report(const WorkerId& worker, const IdempotencyKey& key,
                            const cloud::CloudError& said, const ErrorScope& about, Time now) {
  cloud::CloudError error_said = said;
  if (error_said.status == 0) error_said.status = 409;
  const Error error =
      errors_.classify("the launch of " + worker.str() + " failed", error_said, about);
  reported_[worker] = now;
  late_.add(error, now);
  failures_.push_back({key, error});
  followed_.erase(worker);
}

std::vector<Notices::FailedLaunch> LaunchFollower::take_failures() {
  return std::exchange(failures_, {});
}

}  // namespace muster::azure
