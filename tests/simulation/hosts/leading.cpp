// How a simulated host follows, leads, decides and commits: the steps of leadership::Keeper,
// fleet::Service and postgres::PostgresStore, each of which may be late or never come back.
#include <algorithm>
#include <utility>

#include "host/fleet/model/rows.hpp"
#include "host/queue/queue.hpp"
#include "host/store/row.hpp"
#include "tests/simulation/hosts/parts.hpp"

namespace muster::simulation {
namespace {

using namespace std::chrono_literals;

constexpr auto database_timeout = 3s;
constexpr auto longest_sleep = 1s;
constexpr auto most_between_decisions = 3s;

}  // namespace

// `ask` happens at the database, whatever became of the host; `then` gets its answer, or nothing if
// the connection was lost: before the question arrived, after it, or while it is still on its way.
template <class Ask, class Then>
void HostsWorld::ask_database(Host& host, Ask ask, Then then) {
  const auto answer_host = [this, &host, then, incarnation = host.incarnation](
                               milliseconds delay, std::optional<decltype(ask())> answer) {
    after(delay, [this, &host, then, incarnation, answer = std::move(answer)] {
      deliver(host, incarnation, [then, answer] { then(answer); });
    });
  };
  const auto travel = [this] {
    return now_ < slow_until_ ? random_.between(50ms, 800ms) : random_.between(1ms, 5ms);
  };
  const bool lost = !calm_ && random_.happens(0.02);
  if (now_ < host.cut_until || (lost && random_.happens(0.3)))
    return answer_host(database_timeout, std::nullopt);
  const bool late = lost && random_.happens(0.3);
  if (late) answer_host(database_timeout, std::nullopt);
  after(late ? database_timeout + random_.between(1ms, 20s) : travel(),
        [this, &host, ask, answer_host, travel, lost, late] {
          auto answer = ask();
          if (late) return;
          if (lost || now_ < host.cut_until) {
            count("lost answers of the database");
            return answer_host(random_.between(1ms, 3s), std::nullopt);
          }
          answer_host(travel(), std::move(answer));
        });
}

// -------------------------------------------------------------------------------------------------
// The lease

void HostsWorld::follow(Host& host) {
  const auto again = [this, &host](milliseconds delay) {
    on_host(host, delay, [this, &host] { follow(host); });
  };
  const auto& times = scenario_.times;
  const auto look = [this] { return database_.look(database_now()); };
  ask_database(
      host, look, [this, &host, again, times](const std::optional<leadership::Lead>& seen) {
        const bool free = seen && leadership::should_ask(seen->left);
        host.leader = seen && !free ? seen->holder : "";
        if (seen && !free) return again(leadership::next_look(times, seen->left));
        if (!seen || boot_time_of(host) < host.competes_from) return again(times.look_every());
        const auto asked = boot_time_of(host);
        const auto acquire = [this, name = host.name] {
          return database_.acquire(name, scenario_.times.length, database_now());
        };
        using Epoch = std::optional<std::optional<std::int64_t>>;
        ask_database(host, acquire, [this, &host, again, times, asked](const Epoch& epoch) {
          if (!epoch) return again(times.look_every());
          if (!*epoch) return again(1ms);
          host.epoch = **epoch;
          host.holding = leadership::renewed(times, asked);
          lead(host);
          on_host(host, times.renew_every(), [this, &host] { keep(host); });
        });
      });
}

void HostsWorld::keep(Host& host) {
  const auto asked = boot_time_of(host);
  if (leadership::is_over(host.holding, asked)) return lose(host);
  const auto renew = [this, epoch = host.epoch] {
    return database_.renew(epoch, scenario_.times.length, database_now());
  };
  ask_database(host, renew, [this, &host, asked](std::optional<bool> granted) {
    if (granted && !*granted) return lose(host);
    host.holding = granted
                       ? leadership::renewed(scenario_.times, asked)
                       : leadership::not_renewed(scenario_.times, host.holding, boot_time_of(host));
    const auto now = boot_time_of(host);
    if (leadership::is_over(host.holding, now)) return lose(host);
    on_host(host, std::min(host.holding.next_renewal, host.holding.relied_until) - now,
            [this, &host] { keep(host); });
  });
}

bool HostsWorld::may_act(const Host& host) const {
  return leadership::may_act(host.holding, boot_time_of(host));
}

// The process begins anew, as a follower.
void HostsWorld::lose(Host& host, milliseconds stand_back) {
  ++host.incarnation;
  host.holding = {};
  host.hands_over = false;
  host.leader.clear();
  host.fleet.reset();
  host.wakes_at = -1ms;
  host.to_answer.clear();
  host.waiting.clear();
  host.in_commit.clear();
  host.unanswered.clear();
  host.missed.clear();
  host.competes_from = boot_time_of(host) + stand_back;
  if (host.up) on_host(host, random_.between(50ms, 2s), [this, &host] { follow(host); });
}

// It decides nothing more; what is decided becomes durable; then the lease ends.
void HostsWorld::hand_over(Host& host) {
  if (!host.fleet) return;
  if (!std::exchange(host.hands_over, true)) count("handed over");
  if (!host.in_commit.empty()) return on_host(host, 20ms, [this, &host] { hand_over(host); });
  ask_database(
      host, [this, epoch = host.epoch] { return database_.release(epoch), true; },
      [](std::optional<bool>) {});
  lose(host, scenario_.times.length);
}

void HostsWorld::lead(Host& host) {
  const auto read = [this] { return database_.read(); };
  ask_database(host, read, [this, &host](const std::optional<SharedDatabase::Snapshot>& snapshot) {
    snapshot ? begin(host, *snapshot) : lose(host);
  });
}

void HostsWorld::begin(Host& host, const SharedDatabase::Snapshot& snapshot) {
  fleet::Settings settings = settings_;
  settings.least_epoch = host.epoch;
  const store::MemoryStore store(snapshot.contents);
  auto loaded = fleet::Fleet::load(store, std::move(settings), "simulated", now_of(host));
  if (!loaded) return violated("the store cannot be loaded: " + loaded.error().message);
  host.number = snapshot.number;
  host.fleet = std::move(*loaded);
  host.decided_at = boot_time_of(host);
  if (database_.row().epoch == host.epoch) check_promises(*host.fleet);
  host.fleet->provider_up({.provider_id = provider_id,
                           .settings = {.max_capacity = most_machines},
                           .field_classes = {{"simulated.image"}, {"simulated.instanceType"}, {}}},
                          now_of(host));
  host.fleet->configure(configuration_, now_of(host));
  decide(host);
}

// -------------------------------------------------------------------------------------------------
// Decisions and commits

void HostsWorld::decide(Host& host) {
  if (!host.fleet || host.hands_over || !may_act(host)) return;
  const auto now = now_of(host);
  if (now.steady - host.decided_at > most_between_decisions) host.fleet->could_not_hear(now);
  host.decided_at = now.steady;
  fleet::Outcome outcome = host.fleet->settle(now);
  host.waiting.push_back({std::move(outcome.changes), std::move(outcome.questions),
                          std::exchange(host.to_answer, {})});
  if (const std::string wrong = host.fleet->check_sums(); !wrong.empty()) violated(wrong);
  if (const std::string wrong = host.fleet->queue().check(); !wrong.empty()) violated(wrong);
  wake(host);
  flush(host);
}

void HostsWorld::wake(Host& host) {
  const Time wake = host.fleet->next_wake();
  milliseconds delay = longest_sleep;
  if (wake != Time::max())
    delay = std::clamp<milliseconds>(
        std::chrono::duration_cast<milliseconds>(wake - now_of(host).wall), 1ms, longest_sleep);
  if (host.wakes_at > now_ && host.wakes_at <= now_ + delay) return;
  host.wakes_at = now_ + delay;
  on_host(host, delay, [this, &host, due = host.wakes_at] {
    if (host.wakes_at == due) decide(host);
  });
}

void HostsWorld::flush(Host& host) {
  if (!host.in_commit.empty() || host.waiting.empty()) return;
  host.in_commit.assign(std::make_move_iterator(host.waiting.begin()),
                        std::make_move_iterator(host.waiting.end()));
  host.waiting.clear();
  const bool changes = std::ranges::any_of(
      host.in_commit, [](const Decided& decided) { return !decided.changes.empty(); });
  changes ? send_commit(host) : committed(host);
}

void HostsWorld::send_commit(Host& host) {
  store::Batch batch;
  for (const Decided& decided : host.in_commit)
    batch.insert(batch.end(), decided.changes.begin(), decided.changes.end());
  const std::string token = std::to_string(++next_token_);
  host.unanswered.push_back(token);
  const auto write = [this, epoch = host.epoch, number = host.number, token,
                      batch = std::move(batch)] { return commit(epoch, number, token, batch); };
  ask_database(host, write, [this, &host](std::optional<Commit> outcome) {
    if (outcome != Commit::done) return ask_row(host, outcome.has_value());
    ++host.number;
    committed(host);
  });
}

Commit HostsWorld::commit(std::int64_t epoch, std::int64_t number, const std::string& token,
                          const store::Batch& batch) {
  const Commit outcome = database_.commit(epoch, number, token, batch);
  if (outcome == Commit::refused) count("refused commits");
  if (outcome == Commit::done)
    for (const store::Change& change : batch) {
      const auto* put = std::get_if<store::Put>(&change);
      if (!put || put->table != &store::table_of<fleet::WorkerRow>) continue;
      if (const auto row = store::from_values<fleet::WorkerRow>(put->row))
        intents_.insert("simulated-" + std::to_string(row->epoch) + "-" +
                        std::to_string(row->number));
    }
  return outcome;
}

// Is a commit whose answer was lost there? Why was one refused?
void HostsWorld::ask_row(Host& host, bool refused) {
  const auto read = [this] { return database_.row(); };
  ask_database(host, read, [this, &host, refused](const std::optional<SharedDatabase::Row>& row) {
    if (!row) return on_host(host, 500ms, [this, &host, refused] { ask_row(host, refused); });
    if (row->epoch != host.epoch) {
      count("superseded at a commit");
      return lose(host);
    }
    const bool moved = row->number > host.number;
    if (moved && std::ranges::find(host.unanswered, row->token) == host.unanswered.end())
      return violated("the leader of epoch " + std::to_string(host.epoch) +
                      " finds a commit of somebody else");
    host.number = row->number;
    if (moved && !refused) return committed(host);
    send_commit(host);
  });
}

void HostsWorld::committed(Host& host) {
  host.unanswered.clear();
  for (Decided& decided : std::exchange(host.in_commit, {})) {
    for (const auto& answer : decided.durable) answer();
    for (const fleet::Question& question : decided.questions) ask(host, question);
  }
  flush(host);
}

}  // namespace muster::simulation
