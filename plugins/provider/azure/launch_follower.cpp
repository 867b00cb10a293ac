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
  followed_[instance.worker_id] = {instance.idempotency_key, answer.operation, about, now,
                                   now + answer.retry_after.value_or(first_question)};
}

void LaunchFollower::check(const Context& context) {
  const Time now = context.now();
  std::erase_if(followed_,
                [&](const auto& entry) { return entry.second.began + followed_for <= now; });
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
    report(worker, followed, innermost_error(answer->body), Teller::notice, context.now());
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
  for (const VirtualMachine& machine : ended) failed(machine, Teller::notice, context);
}

std::optional<cloud::CloudError> LaunchFollower::reason_of(const Followed& followed,
                                                           const Context& context) {
  const auto answer = api_.call({.target = followed.operation, .about = followed.about}, context);
  if (!answer || !is_failure(text_of(answer->body, "status"))) return std::nullopt;
  return innermost_error(answer->body);
}

// As it was followed, or as far as a list shows it.
LaunchFollower::Followed LaunchFollower::launch_of(const Instance& instance) const {
  const auto found = followed_.find(instance.worker_id);
  if (found != followed_.end()) return found->second;
  return {instance.idempotency_key, {}, scope_of(instance), instance.created};
}

void LaunchFollower::failed(const VirtualMachine& machine, Teller teller, const Context& context) {
  const WorkerId& worker = machine.instance.worker_id;
  if (reported_.contains(worker)) return;
  const Followed launch = launch_of(machine.instance);
  std::optional<cloud::CloudError> said = machine.failure;
  if ((!said || said->code.empty()) && !launch.operation.empty()) said = reason_of(launch, context);
  // Somebody has stopped it, or it failed before this process began.
  if (!said) {
    settled(worker);
    return;
  }
  report(worker, launch, *said, teller, context.now());
}

void LaunchFollower::failed(const Instance& instance, const json::object& error, Teller teller,
                            const Context& context) {
  if (reported_.contains(instance.worker_id)) return;
  report(instance.worker_id, launch_of(instance), innermost_error(error), teller, context.now());
}

void LaunchFollower::report(const WorkerId& worker, const Followed& launch,
                            const cloud::CloudError& said, Teller teller, Time now) {
  cloud::CloudError error_said = said;
  if (error_said.status == 0) error_said.status = 409;
  const Error error =
      errors_.classify("the launch of " + worker.str() + " failed", error_said, launch.about);
  reported_[worker] = now;
  late_.add(error, launch.began, now);
  if (teller == Teller::notice) late_.told(error);
  failures_.push_back({launch.key, error});
  followed_.erase(worker);
}

std::vector<Notices::FailedLaunch> LaunchFollower::take_failures() {
  return std::exchange(failures_, {});
}

}  // namespace muster::azure
