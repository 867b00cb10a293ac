// Which of the workers with room a request gets.
#include <algorithm>

#include "host/queue/lines.hpp"
#include "host/queue/queue.hpp"

namespace muster::queue {
namespace {

// Of a large fleet not every idle worker is looked at, but those that the first strategy of the
// chain likes best, or, if it has no such order, some that the draw picks.
constexpr std::size_t most_considered = 256;
constexpr std::size_t longest_chain = 5;

std::uint64_t draw(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t z = seed + number * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

using Score = std::array<std::int64_t, longest_chain + 1>;

}  // namespace

void Queue::place(Index at) {
  while (lines_[at].indexed) {
    const Index head = lines_[at].waiting.begin()->request;
    const Index worker = choose(lines_[at], requests_[head]);
    if (worker == no_index) return;
    if (goes_first(at, worker)) {
      grant(head, worker);
      continue;
    }
    // Another line has become overdue: the worker is offered in the order of the lines.
    place_again(at);
    return offer_again(worker);
  }
}

// No other line that waits for the worker is overdue, or ours is it for longer, or the worker is
// reserved for ours.
bool Queue::goes_first(Index at, Index worker) const {
  if (workers_[worker].reserved_for == at) return true;
  return std::ranges::all_of(workers_[worker].groups, [&](Index group) {
    const std::set<Age>& by_age = groups_[group].by_age;
    return by_age.empty() || by_age.begin()->line == at ||
           by_age.begin()->since + settings_.patience > now_;
  });
}

void Queue::configure_placement(const std::map<WorkerPoolId, std::vector<Strategy>>& pools) {
  for (TeamPool& pool : pools_) pool.strategies.clear();
  for (const auto& [id, strategies] : pools) pools_[index_of_pool(id)].strategies = strategies;
}

// What the request says, else the pool that it names, else the first by name of its team's pools
// that says something, else the host.
const std::vector<Strategy>& Queue::chain_of(const Line& line, const Request& request) const {
  if (!request.strategies.empty()) return request.strategies;
  if (line.pool != no_index && !pools_[line.pool].strategies.empty())
    return pools_[line.pool].strategies;
  const TeamPool* first = nullptr;
  for (const Index at : teams_[line.team].pools) {
    const TeamPool& pool = pools_[at];
    if (!pool.strategies.empty() && (!first || pool.id < first->id)) first = &pool;
  }
  return first ? first->strategies : settings_.strategies;
}

// The strategies of a chain are compared one after the other, the draw decides between equals.
Index Queue::choose(const Line& line, const Request& request) const {
  const std::vector<Strategy>& chain = chain_of(line, request);
  const std::uint64_t seed = draw(seed_, static_cast<std::uint64_t>(request.number));
  const Team& team = teams_[request.team];
  const Index own = line.reserved;
  const auto usable = [&](Index at) {
    const Worker& worker = workers_[at];
    return worker.takes_work && (worker.reserved_for == no_index || at == own) &&
           (line.pool == no_index || line.pool == worker.pool) &&
           worker.has_room_for(request.needs);
  };
  if (own != no_index && usable(own)) return own;
  const auto served_before = [&](const Worker& worker) {
    return std::ranges::find(worker.cache_keys, request.cache_key) != worker.cache_keys.end();
  };
  const auto score_of = [&](Index at) {
    const Worker& worker = workers_[at];
    Score score{};
    for (std::size_t i = 0; i < std::min(chain.size(), longest_chain); ++i) {
      switch (chain[i]) {
        case Strategy::random:
          break;  // what is left is drawn
        case Strategy::fewest_active:
          score[i] = worker.active();
          break;
        case Strategy::pack:
          score[i] = worker.has.active_task - worker.active();
          break;
        case Strategy::locality:
          score[i] = !request.cache_key.empty() && served_before(worker) ? 0 : 1;
          break;
        case Strategy::spread:
          if (const auto there = team.leases_by_place.find(worker.place);
              there != team.leases_by_place.end())
            score[i] = there->second;
          break;
      }
      if (chain[i] == Strategy::random) break;  // nothing is left for those behind it
    }
    score.back() = static_cast<std::int64_t>(draw(seed, worker.number) >> 1);
    return score;
  };
  Index best = no_index;
  Score best_score{};
  const auto consider = [&](Index at) {
    if (!usable(at)) return;
    const Score score = score_of(at);
    if (best != no_index && score >= best_score) return;
    best = at;
    best_score = score;
  };
  // The emptiest first, or the fullest, or from where the draw falls.
  const auto by_use = std::ranges::find_if(chain, [](Strategy strategy) {
    return strategy == Strategy::pack || strategy == Strategy::fewest_active;
  });
  const auto look_into = [&](const Group& group) {
    std::vector<const std::vector<Index>*> buckets;
    std::size_t open = 0;
    for (const auto& [used, workers] : group.open) {
      buckets.push_back(&workers);
      open += workers.size();
    }
    if (open == 0) return;
    if (by_use != chain.end()) {
      if (*by_use == Strategy::pack) std::ranges::reverse(buckets);
    } else {
      auto first = buckets.begin();
      for (std::size_t rank = seed % open; rank >= (*first)->size(); ++first)
        rank -= (*first)->size();
      std::ranges::rotate(buckets, first);
    }
    std::size_t left = most_considered;
    for (const std::vector<Index>* workers : buckets)
      for (std::size_t i = 0; i < workers->size() && left > 0; ++i, --left)
        consider((*workers)[(seed + i) % workers->size()]);
  };
  const auto warm = by_cache_key_.find(request.cache_key);
  const bool likes_warm =
      warm != by_cache_key_.end() && std::ranges::find(chain, Strategy::locality) != chain.end();
  for (const bool fallback : {false, true}) {
    for (const Line::Reach& reach : line.reach) {
      if (reach.fallback != fallback) continue;
      if (likes_warm)
        for (const Index worker : warm->second)
          if (std::ranges::find(workers_[worker].groups, reach.group) !=
              workers_[worker].groups.end())
            consider(worker);
      look_into(groups_[reach.group]);
    }
    if (best != no_index) return best;
  }
  return no_index;
}

}  // namespace muster::queue
