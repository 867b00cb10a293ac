// Launch configurations: shown, paused, resumed.
#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/fleet.hpp"
#include "host/taskcluster_api/documents.hpp"
#include "host/taskcluster_api/handlers.hpp"
#include "host/taskcluster_api/page.hpp"

namespace muster::taskcluster_api {
namespace {

using fleet::Fleet;
using fleet::LaunchConfigState;
using fleet::LaunchConfigStatus;
using fleet::Now;

constexpr char launch_config_token = 'c';

const std::string& id_of(const LaunchConfigState& state) {
  return state.spec->launch_config.launch_config_id.str();
}

Answer shown(const Fleet& fleet, const WorkerPoolId& pool_id, const LaunchConfigId& id) {
  const fleet::Pool* pool = fleet.find_pool(pool_id);
  if (!pool) return not_found("Worker pool does not exist");
  for (const fleet::Index at : pool->launch_configs) {
    const LaunchConfigState& state = fleet.launch_configs()[at];
    if (id_of(state) != id.str()) continue;
    PrettyText text;
    write_launch_config(text, fleet, state, LaunchConfigDetail::single);
    return text.take();
  }
  return not_found("Launch config does not exist");
}

// A launch configuration that is not there is told as such before anything is changed.
template <class Change>
void change_launch_config(const CallPtr& call, const Change& make) {
  change_fleet(
      call,
      [pool = call->worker_pool_id(), id = LaunchConfigId(call->parameter("launchConfigId")), make](
          Fleet& fleet, Now now) -> Answer {
        if (auto there = shown(fleet, pool, id); !there) return there;
        if (const Result<void> done = make(fleet, pool, id, now); !done)
          return to_failure(done.error());
        return shown(fleet, pool, id);
      });
}

}  // namespace

void list_worker_pool_launch_configs(const CallPtr& call) {
  const auto after = key_of_token(*call, launch_config_token);
  if (!after) return call->fail(after.error());
  const bool archived_too = call->query().find("includeArchived") == "true";
  read_fleet(
      call,
      [id = call->worker_pool_id(), after = *after, archived_too, limit = limit_of(*call)](
          const Fleet& fleet, Now) -> Answer {
        const fleet::Pool* pool = fleet.find_pool(id);
        if (!pool) return not_found("Worker pool does not exist");
        std::vector<const LaunchConfigState*> states;
        for (const fleet::Index at : pool->launch_configs) {
          const LaunchConfigState& state = fleet.launch_configs()[at];
          if (state.status == LaunchConfigStatus::archived && !archived_too) continue;
          if (!after || id_of(state) > *after) states.push_back(&state);
        }
        std::ranges::sort(
            states, {}, [](const auto* state) -> auto& { return id_of(*state); });
        const bool more = states.size() > limit;
        states.resize(std::min(limit, states.size()));
        PrettyText text;
        text.begin_object().key("workerPoolLaunchConfigs").begin_array();
        auto last = write_page(text, states, [&](PrettyText& item, const LaunchConfigState* state) {
          write_launch_config(item, fleet, *state, LaunchConfigDetail::list);
        });
        if (!last && more && !states.empty()) last = &states.back();
        text.end_array();
        if (last)
          text.key("continuationToken").string(make_token(launch_config_token, id_of(**last)));
        return text.end_object().take();
      });
}

Answer get_launch_config(const Call& call, const Fleet& fleet, Now) {
  return shown(fleet, call.worker_pool_id(), LaunchConfigId(call.parameter("launchConfigId")));
}

void pause_launch_config(const CallPtr& call) {
  const auto until = parse_time(call->text("until"));
  if (!until) return call->fail(input_error("`until` must be a time such as 2026-01-02T03:04:05Z"));
  const json::value* given = call->body().if_contains("reason");
  change_launch_config(
      call, [until = *until, reason = given ? call->text("reason") : std::string()](
                Fleet& fleet, const WorkerPoolId& pool, const LaunchConfigId& id, Now now) {
        return fleet.pause(pool, id, until, reason, now);
      });
}

void resume_launch_config(const CallPtr& call) {
  change_launch_config(call, [](Fleet& fleet, const WorkerPoolId& pool, const LaunchConfigId& id,
                                Now now) { return fleet.resume(pool, id, now); });
}

}  // namespace muster::taskcluster_api
