#include "host/fleet_metrics.hpp"

#include <muster/codec.hpp>

#include "host/fleet/queue_load.hpp"
#include "host/queue/queue.hpp"

namespace muster {
namespace {

using metrics::Page;

double number(std::int64_t value) {
  return static_cast<double>(value);
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
  page.gauge("muster_fleet_busy_capacity", "Capacity that works, as far as workers say",
             number(pool.totals.busy), {{"pool", id}});
  page.gauge("muster_fleet_pending_capacity", "Capacity that waits for workers",
             number(pool.demand.pending), {{"pool", id}});
  for (std::size_t kind = 0; kind < enum_names(fleet::VerdictKind{}).size(); ++kind)
    page.gauge("muster_fleet_pool_verdict", "1 for what is to be said of the pool",
               static_cast<std::size_t>(pool.verdict.kind) == kind ? 1 : 0,
               {{"pool", id}, {"verdict", std::string(enum_names(fleet::VerdictKind{})[kind])}});
}

void write_pool_load(const std::string& id, const fleet::PoolLoad& load, Time now, Page& page) {
  page.gauge("muster_queue_pool_waiting_requests",
             "Requests that wait for a pool, each counted for one", number(load.waiting.requests),
             {{"pool", id}});
  page.gauge("muster_queue_pool_pending_capacity", "Capacity that those requests would take",
             load.waiting.capacity, {{"pool", id}});
  page.gauge("muster_queue_pool_oldest_wait_seconds", "How long the oldest of them waits",
             oldest_wait(load.waiting.oldest, now), {{"pool", id}});
  page.gauge("muster_queue_pool_would_be_capacity", "The pool's size if nobody had to wait",
             number(load.would_be()), {{"pool", id}});
  for (const fleet::ResourceLoad& resource : load.resources()) {
    const metrics::Labels labels{{"pool", id}, {"resource", resource.name}};
    page.gauge("muster_queue_resource_capacity", "What a pool's workers have of a resource",
               number(resource.has), labels);
    page.gauge("muster_queue_resource_used", "What is used of it", number(resource.used), labels);
    page.gauge("muster_queue_resource_utilisation", "The part of it that is used, from 0 to 1",
               resource.utilisation(), labels);
  }
}

void write_load(const fleet::Fleet& fleet, fleet::Now now, Page& page) {
  const fleet::QueueLoad load = fleet::load_of(fleet);
  const auto& teams = fleet.queue().teams();
  for (std::size_t at = 0; at < teams.size(); ++at) {
    const metrics::Labels labels{{"team", teams[at].id.str()}};
    page.gauge("muster_queue_waiting_requests", "Requests of a team that wait for workers",
               number(teams[at].pending), labels);
    page.gauge("muster_queue_oldest_wait_seconds", "How long the oldest of them waits",
               oldest_wait(load.oldest_of_team[at], now.wall), labels);
    page.gauge("muster_queue_held_capacity", "Capacity that a team holds", number(teams[at].held),
               labels);
  }
  for (const auto& [id, pool] : load.pools) write_pool_load(id.str(), pool, now.wall, page);
  page.gauge("muster_queue_unserved_requests", "Requests that wait and that no pool could serve",
             number(load.unserved.requests));
}

// What is said of the head of a line is said of all behind it.
void write_verdicts(const fleet::Fleet& fleet, fleet::Now now, Page& page) {
  const queue::Queue& queue = fleet.queue();
  std::map<std::pair<std::string, std::string>, std::int64_t> verdicts;
  for (const queue::Line& line : queue.lines()) {
    if (line.waiting.empty()) continue;
    const queue::Verdict verdict =
        fleet.verdict_of(queue.requests()[line.waiting.begin()->request], now);
    verdicts[{std::string(enum_names(verdict.kind)[static_cast<std::size_t>(verdict.kind)]),
              verdict.cause}] += static_cast<std::int64_t>(line.waiting.size());
  }
  for (const auto& [verdict, count] : verdicts)
    page.gauge("muster_queue_verdicts", "Requests that wait, by what is to be said of them",
               number(count), {{"verdict", verdict.first}, {"cause", verdict.second}});
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

}  // namespace

void write_fleet_metrics(FleetOfHost& host, Page& page) {
  host.fleet().read([&](const fleet::Fleet& fleet, fleet::Now now) {
    write_load(fleet, now, page);
    write_verdicts(fleet, now, page);
    for (const fleet::Pool& pool : fleet.pools())
      if (!pool.removed()) write_pool(pool, page);
    for (const fleet::ProviderState& provider : fleet.providers()) {
      page.gauge("muster_fleet_provider_up", "1 while the provider answers", provider.up ? 1 : 0,
                 {{"provider", provider.id.str()}});
      page.gauge("muster_fleet_launches_waiting", "Calls that wait for their turn",
                 number(static_cast<std::int64_t>(provider.launchables.size())),
                 {{"provider", provider.id.str()}});
    }
    page.gauge("muster_fleet_holds", "What is not tried for a while, over all pools",
               number(static_cast<std::int64_t>(fleet.holds().size())));
  });
  page.gauge("muster_store_ok", "0 while the store fails and the host is read-only",
             host.fleet().store_health().ok ? 1 : 0);
  page.gauge("muster_store_waiting_batches", "Changes that are not durable yet",
             number(static_cast<std::int64_t>(host.fleet().committer().waiting())));
  write_events(host.events().numbers(), page);
}

}  // namespace muster
