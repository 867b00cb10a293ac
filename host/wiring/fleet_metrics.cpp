#include "host/wiring/fleet_metrics.hpp"

#include <algorithm>

#include <muster/codec.hpp>
#include <muster/enum_name.hpp>

#include "host/fleet/queue_load.hpp"
#include "host/queue/queue.hpp"

namespace muster {
namespace {

using metrics::Page;

// Names that clients and workers make up become labels up to these numbers.
constexpr std::size_t most_made_up_teams = 100;
constexpr std::size_t most_resources = 32;  // of one pool
const std::string other_name(metrics::other_label);

double number(std::int64_t value) {
  return static_cast<double>(value);
}

using VerdictCounts = std::map<std::pair<verdict::Kind, std::string>, std::int64_t>;

std::pair<verdict::Kind, std::string> counted_as(const verdict::Verdict& verdict) {
  return {verdict.kind, verdict.obstacle ? verdict.obstacle->cause : ""};
}

void write_verdicts(const char* name, const char* about, const VerdictCounts& counts, Page& page) {
  for (const auto& [verdict, count] : counts)
    page.gauge(name, about, number(count),
               {{"verdict", name_of(verdict.first)}, {"cause", verdict.second}});
}

// Of pools that have all that they want nothing is asked.
void write_launch_configs(const fleet::Fleet& fleet, fleet::Now now, Page& page) {
  VerdictCounts counts;
  for (const fleet::Pool& pool : fleet.pools()) {
    if (pool.removed() || pool.verdict.kind == verdict::Kind::placed) continue;
    const fleet::Weights weights = fleet.weights_of(pool, now.wall);
    for (const fleet::Index at : pool.launch_configs)
      ++counts[counted_as(fleet.verdict_of(at, weights, now))];
  }
  write_verdicts("muster_fleet_launch_config_verdicts",
                 "Launch configurations of pools that want more, by verdict", counts, page);
}

double oldest_wait(const std::optional<Time>& oldest, Time now) {
  return oldest ? number(fleet::seconds_since(*oldest, now)) : 0;
}

void write_pool(const fleet::Pool& pool, Page& page) {
  const std::string& id = pool.id.str();
  const auto capacity = [&](const char* state, std::int64_t value) {
    page.gauge("muster_fleet_capacity", "Capacity of a pool's workers, by what they do",
               number(value), {{"pool", id}, {"state", state}});
  };
  capacity("requested", pool.totals.requested);
  capacity("lost", pool.totals.lost);
  capacity("running", pool.totals.running);
  capacity("draining", pool.totals.draining);
  capacity("stopping", pool.totals.stopping);
  capacity("absent", pool.totals.absent);
  page.gauge("muster_fleet_busy_capacity", "Capacity that is busy, as workers report it",
             number(pool.totals.busy), {{"pool", id}});
  if (pool.spec) {
    page.gauge("muster_fleet_min_capacity", "Least capacity of a pool, as it is configured",
               number(pool.spec->settings.min_capacity), {{"pool", id}});
    page.gauge("muster_fleet_max_capacity", "Most capacity of a pool, as it is configured",
               number(pool.spec->settings.max_capacity), {{"pool", id}});
  }
  page.gauge("muster_fleet_desired_capacity", "Capacity that the pool should have now",
             number(pool.totals.requested + pool.totals.running + pool.want - pool.surplus),
             {{"pool", id}});
  page.gauge("muster_fleet_pending_capacity", "Capacity that waits for workers",
             number(pool.demand.pending), {{"pool", id}});
  const auto [kind, cause] = counted_as(pool.verdict);
  page.gauge("muster_fleet_pool_verdict", "1 for the verdict of the pool", 1,
             {{"pool", id}, {"verdict", name_of(kind)}, {"cause", cause}});
}

void write_pool_load(const std::string& id, const fleet::PoolLoad& load, Time now, Page& page) {
  page.gauge("muster_queue_pool_waiting_requests",
             "Requests that wait for a pool, each counted for one", number(load.waiting.requests),
             {{"pool", id}});
  page.gauge("muster_queue_pool_pending_capacity", "Capacity that those requests would take",
             load.waiting.capacity, {{"pool", id}});
  page.gauge("muster_queue_pool_oldest_wait_seconds", "How long the oldest of them waits",
             oldest_wait(load.waiting.oldest, now), {{"pool", id}});
  page.gauge("muster_queue_pool_would_be_capacity", "Size of the pool if no request had to wait",
             number(load.would_be()), {{"pool", id}});
  std::size_t resources = 0;
  for (const fleet::ResourceLoad& resource : load.resources()) {
    if (++resources > most_resources) break;  // workers make up their names
    const metrics::Labels labels{{"pool", id}, {"resource", resource.name}};
    page.gauge("muster_queue_resource_capacity", "What a pool's workers have of a resource",
               number(resource.has), labels);
    page.gauge("muster_queue_resource_used", "What is used of it", number(resource.used), labels);
    page.gauge("muster_queue_resource_utilisation", "The part of it that is used, from 0 to 1",
               resource.utilisation(), labels);
  }
}

// Clients make up names of pools when they ask for workers; those that this host does not have are
// counted together.
void write_pool_loads(const fleet::Fleet& fleet, const fleet::QueueLoad& load, Time now,
                      Page& page) {
  fleet::PoolLoad others;
  bool any = false;
  for (const auto& [id, pool] : load.pools) {
    const fleet::Pool* known = fleet.find_pool(id);
    if (pool.workers > 0 || (known && !known->removed())) {
      write_pool_load(id.str(), pool, now, page);
      continue;
    }
    any = true;
    others.unserved += pool.unserved;
    others.waiting.add(pool.waiting.requests, pool.waiting.capacity,
                       pool.waiting.oldest.value_or(now));
  }
  if (any) write_pool_load(other_name, others, now, page);
}

struct TeamLoad {
  std::int64_t pending = 0, held = 0;
  double oldest = 0;
};

void write_team(const std::string& id, const TeamLoad& team, Page& page) {
  const metrics::Labels labels{{"team", id}};
  page.gauge("muster_queue_waiting_requests", "Requests of a team that wait for workers",
             number(team.pending), labels);
  page.gauge("muster_queue_oldest_wait_seconds", "How long the oldest of them waits", team.oldest,
             labels);
  page.gauge("muster_queue_held_capacity", "Capacity that a team holds", number(team.held), labels);
}

// Teams that an operator has named, that own something, and the first others; the rest together.
void write_team_loads(const fleet::Fleet& fleet, const fleet::QueueLoad& load, Time now,
                      Page& page) {
  TeamLoad others;
  std::size_t made_up = 0;
  const auto& teams = fleet.queue().teams();
  for (std::size_t at = 0; at < teams.size(); ++at) {
    const queue::Team& team = teams[at];
    const TeamLoad own{team.pending, team.held, oldest_wait(load.oldest_of_team[at], now)};
    const bool known = team.configured || !team.pools.empty() || team.own_workers > 0;
    if (known || ++made_up <= most_made_up_teams) {
      write_team(team.id.str(), own, page);
      continue;
    }
    others.pending += own.pending;
    others.held += own.held;
    others.oldest = std::max(others.oldest, own.oldest);
  }
  if (made_up > most_made_up_teams) write_team(other_name, others, page);
}

void write_requests(const fleet::Fleet& fleet, fleet::Now now, Page& page) {
  write_verdicts("muster_queue_verdicts", "Requests that wait, by verdict",
                 fleet.count_verdicts(now), page);
  const verdict::Calibration::Score& score = fleet.queue().calibration().total();
  page.counter("muster_queue_eta_expectations_total", "Requests with an ETA whose outcome is known",
               number(score.expectations));
  const auto kept = [&](const char* quantile, std::int64_t count) {
    page.counter("muster_queue_eta_kept_total", "Of them, those that had one by then",
                 number(count), {{"quantile", quantile}});
  };
  kept("0.5", score.kept_p50);
  kept("0.9", score.kept_p90);
}

void write_events(const events::Numbers& numbers, Page& page) {
  page.counter("muster_events_total", "Events, since the first start", number(numbers.newest));
  page.gauge("muster_events_listeners", "Streams of events that are open",
             number(numbers.listeners));
  const auto lag = [&](const std::string& consumer, std::int64_t value) {
    page.gauge("muster_events_lag", "Events that a consumer has not taken yet", number(value),
               {{"consumer", consumer}});
  };
  for (const events::WebhookStatus& webhook : numbers.webhooks) {
    lag("webhook/" + webhook.name, webhook.lag);
    page.counter("muster_events_webhook_failures_total", "Attempts that a webhook did not take",
                 number(webhook.failed), {{"webhook", webhook.name}});
    page.counter("muster_events_dead_letters_total", "Events that a webhook never took",
                 number(webhook.given_up), {{"webhook", webhook.name}});
  }
  if (!numbers.amqp) return;
  lag("amqp", numbers.amqp->lag);
  page.gauge("muster_events_amqp_connected", "1 while the broker is there",
             numbers.amqp->connected ? 1 : 0);
}

void write_runs(const worker_state::Numbers& numbers, Page& page) {
  const auto outcome = [&](const char* name, std::int64_t count) {
    page.counter("muster_worker_state_runs_total", "Task runs that have ended, by outcome",
                 static_cast<double>(count), {{"outcome", name}});
  };
  outcome("completed", numbers.counts.completed);
  outcome("failed", numbers.counts.failed);
  outcome("exception", numbers.counts.exception);
  page.gauge("muster_worker_state_running_runs", "Task runs that have not ended",
             static_cast<double>(numbers.counts.running));
  page.gauge("muster_worker_state_kept_runs", "Task runs that are kept one by one",
             static_cast<double>(numbers.kept));
  page.counter("muster_worker_state_messages_set_aside_total",
               "Messages that said nothing about a task run",
               static_cast<double>(numbers.set_aside));
  if (!numbers.consumer) return;
  page.counter("muster_worker_state_messages_received_total", "Messages about task runs",
               static_cast<double>(numbers.consumer->received));
  page.gauge("muster_worker_state_queue_connected", "1 while messages about task runs can come",
             numbers.consumer->connected ? 1 : 0);
}

void write_demand(const std::vector<demand::SourceStatus>& sources, Page& page) {
  for (const demand::SourceStatus& source : sources) {
    const metrics::Labels labels{{"source", source.name}};
    page.gauge("muster_demand_source_ok", "1 while a source of demand answers",
               source.error.empty() && source.answered ? 1 : 0, labels);
    if (source.age)
      page.gauge("muster_demand_age_seconds", "Age of the newest count of a source",
                 std::chrono::duration<double>(*source.age).count(), labels);
    page.gauge("muster_demand_stale_pools",
               "Pools whose count is too old, so that it no longer counts",
               static_cast<double>(source.stale_pools), labels);
  }
}

void write_configuration(const pools::Status& status, Page& page) {
  const auto errors = std::ranges::count_if(status.problems, [](const rules::Problem& problem) {
    return problem.severity == rules::Severity::error;
  });
  page.gauge("muster_configuration_problems",
             "Mistakes in the newest worker configurations that keep them from serving",
             number(errors));
  page.gauge("muster_configuration_source_ok", "1 while worker configurations can be read",
             status.source_error.empty() ? 1 : 0);
  page.gauge("muster_configuration_held_back",
             "1 while worker configurations are gone and the last ones stay in force",
             status.held_back ? 1 : 0);
  page.gauge("muster_configuration_held_files",
             "Worker configurations of which the newest version is not in force",
             number(static_cast<std::int64_t>(status.held_files.size())));
}

}  // namespace

void write_notification_metrics(const notifications::Numbers& numbers, Page& page) {
  for (const auto& [cause, count] : numbers.active)
    page.gauge("muster_notifications_conditions", "What needs a person now, by cause",
               number(count), {{"cause", cause}});
  for (const char* channel : {"mail", "chat"}) {
    const auto of = [&](const std::map<std::string, std::int64_t>& counts) {
      const auto found = counts.find(channel);
      return number(found == counts.end() ? 0 : found->second);
    };
    page.counter("muster_notifications_sent_total", "Messages that a channel took",
                 of(numbers.sent), {{"channel", channel}});
    page.counter("muster_notifications_failures_total", "Attempts that a channel did not take",
                 of(numbers.failures), {{"channel", channel}});
  }
  page.gauge("muster_notifications_pending", "Lines that are still to be sent",
             number(numbers.pending));
  page.counter("muster_notifications_dropped_total", "Lines that were given up",
               number(numbers.dropped));
}

void write_queue_load(const fleet::Fleet& fleet, fleet::Now now, Page& page) {
  const fleet::QueueLoad load = fleet::load_of(fleet);
  write_team_loads(fleet, load, now.wall, page);
  write_pool_loads(fleet, load, now.wall, page);
  page.gauge("muster_queue_unserved_requests", "Requests that wait and that no pool could serve",
             number(load.unserved.requests));
}

void write_fleet_metrics(FleetRuntime& host, Page& page) {
  host.fleet().read([&](const fleet::Fleet& fleet, fleet::Now now) {
    write_queue_load(fleet, now, page);
    write_requests(fleet, now, page);
    for (const fleet::Pool& pool : fleet.pools())
      if (!pool.removed()) write_pool(pool, page);
    write_launch_configs(fleet, now, page);
    for (const fleet::ProviderState& provider : fleet.providers()) {
      page.gauge("muster_fleet_provider_up", "1 while the provider answers", provider.up ? 1 : 0,
                 {{"provider", provider.id.str()}});
      page.gauge("muster_fleet_launches_waiting", "Calls that wait for their turn",
                 number(static_cast<std::int64_t>(fleet.launches_waiting(provider))),
                 {{"provider", provider.id.str()}});
    }
    page.gauge("muster_fleet_holds", "Holds, over all pools",
               number(static_cast<std::int64_t>(fleet.holds().size())));
  });
  page.gauge("muster_store_ok", "0 while the store fails and the host is read-only",
             host.fleet().store_health().ok ? 1 : 0);
  if (const auto status = host.configuration_status()) write_configuration(*status, page);
  write_demand(host.demand_status(), page);
  host.meters().write(page);
  page.gauge("muster_store_damaged", "1 while damage of the store is known and not repaired",
             host.fleet().store_health().damage.empty() ? 0 : 1);
  page.gauge("muster_store_incomplete",
             "1 if the store lost acknowledged changes before this start",
             host.store().notice().empty() ? 0 : 1);
  page.gauge("muster_store_waiting_batches", "Changes that are not durable yet",
             number(static_cast<std::int64_t>(host.fleet().committer().waiting())));
  page.gauge("muster_store_rows_set_aside", "Rows that cannot be read and are not acted on",
             number(static_cast<std::int64_t>(host.store().set_aside().size())));
  write_events(host.events().numbers(), page);
  write_runs(host.runs().numbers(), page);
}

}  // namespace muster
