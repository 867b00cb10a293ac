// Who offers what: candidates within all limits, fair shares of what is scarce, and the bids.
#include <algorithm>
#include <cmath>

#include <muster/codec.hpp>

#include "host/fleet/bidding/fair_share.hpp"
#include "host/fleet/changing.hpp"

namespace muster::fleet {
// Pools whose strategy answered, all together, so that what is scarce is shared.
void Fleet::bid_for_all() {
  if (sized_.empty()) return;
  share_scarce_providers();
  for (const Index pool : std::exchange(sized_, {})) {
    if (pools_[pool].talk != BiddingPhase::sized) continue;
    if (waits_for_fairness(pool))
      sized_.push_back(pool);
    else
      begin_bidding(pool);
  }
}

// Only while a shared limit is about to be reached, and only for a moment, others are waited for.
bool Fleet::waits_for_fairness(Index index) const {
  const Pool& pool = pools_[index];
  if (sizing_ == 0 || now_.wall >= pool.sized_at + fairness_wait || now_.wall < pool.sized_at)
    return false;
  return std::ranges::any_of(pool.launch_configs, [&](Index at) {
    const ProviderState& provider = providers_[launch_configs_[at].provider];
    return provider.settings.max_capacity &&
           *provider.settings.max_capacity - provider.totals.occupied() < 2 * pool.want;
  });
}

// By what each pool has and wants of the provider together, so that one that has much waits for one
// that has little. Whom a remainder goes to changes from time to time.
void Fleet::share_scarce_providers() {
  for (Index at = 0; at < providers_.size(); ++at) {
    ProviderState& provider = providers_[at];
    provider.shares.clear();
    if (!provider.settings.max_capacity) continue;
    std::vector<Claim> claims;
    for (Index pool = 0; pool < pools_.size(); ++pool)
      if (const Claim claim = claim_on(pool, at); claim.held + claim.wants > 0)
        claims.push_back(claim);
    if (claims.empty()) continue;
    std::vector<std::int64_t> sums;
    for (const Claim& claim : claims) sums.push_back(claim.held + claim.wants);
    const std::int64_t limit = *provider.settings.max_capacity;
    const auto first = static_cast<std::size_t>(next_number_) % claims.size();
    std::vector<std::int64_t> shares = bidding::fair_shares(sums, limit, first);
    share_by_whole_instances(claims, limit, first, shares);
    provider.shares.resize(pools_.size(), 0);
    for (std::size_t i = 0; i < claims.size(); ++i) provider.shares[claims[i].pool] = shares[i];
  }
}

// Half an instance is none: what the halves leave over goes to whoever can make a whole one of it,
// in a circle, lest two pools wait for each other for ever.
void Fleet::share_by_whole_instances(const std::vector<Claim>& claims, std::int64_t limit,
                                     std::size_t first, std::vector<std::int64_t>& shares) {
  std::int64_t left = limit;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = claims[i];
    const std::int64_t more = std::max<std::int64_t>(0, shares[i] - claim.held);
    shares[i] = claim.held + (claim.wants > 0 ? more / claim.unit * claim.unit : 0);
    left -= shares[i];
  }
  for (bool given = true; given;) {
    given = false;
    for (std::size_t step = 0; step < claims.size(); ++step) {
      const std::size_t i = (first + step) % claims.size();
      const Claim& claim = claims[i];
      if (claim.wants == 0 || claim.unit > left || shares[i] >= claim.held + claim.wants) continue;
      shares[i] += claim.unit;
      left -= claim.unit;
      given = true;
    }
  }
}

std::int64_t Fleet::held_of(const Pool& pool, Index provider) const {
  std::int64_t held = 0;
  for (const Index at : pool.launch_configs)
    if (launch_configs_[at].provider == provider) held += launch_configs_[at].totals.occupied();
  return held;
}

// What the pool has of the provider, and what it wants more: whole instances of the smallest kind
// that it could launch there.
Fleet::Claim Fleet::claim_on(Index index, Index provider) const {
  const Pool& pool = pools_[index];
  Claim claim{.pool = index, .held = held_of(pool, provider)};
  if (pool.want <= 0) return claim;
  for (const Index at : pool.launch_configs) {
    const LaunchConfigState& launch_config = launch_configs_[at];
    if (launch_config.provider != provider || launch_config.status != LaunchConfigStatus::active)
      continue;
    const std::int64_t unit = instance_capacity(*launch_config.spec);
    if (capacity_room(index, at) < unit ||
        holds_.find(providers_[provider].id, launch_config.spec->launch_config, now_.wall))
      continue;
    claim.unit = claim.unit == 0 ? unit : std::min(claim.unit, unit);
  }
  if (claim.unit > 0) claim.wants = (pool.want + claim.unit - 1) / claim.unit * claim.unit;
  return claim;
}

// How much capacity may be launched from it now within all limits.
std::int64_t Fleet::capacity_room(Index pool_index, Index index) const {
  const Pool& pool = pools_[pool_index];
  if (!pool.spec) return 0;
  const LaunchConfigState& launch_config = launch_configs_[index];
  const ProviderState& provider = providers_[launch_config.provider];
  std::int64_t room = pool.spec->settings.max_capacity - pool.totals.used();
  if (launch_config.spec->max_capacity)
    room = std::min(room, *launch_config.spec->max_capacity - launch_config.totals.used());
  if (provider.settings.max_capacity)
    room = std::min(room, *provider.settings.max_capacity - provider.totals.occupied());
  return std::max<std::int64_t>(room, 0);
}

std::int64_t Fleet::instances_room(Index pool_index, Index index) const {
  const LaunchConfigState& launch_config = launch_configs_[index];
  const ProviderState& provider = providers_[launch_config.provider];
  std::int64_t room = capacity_room(pool_index, index);
  if (pool_index < provider.shares.size())
    room = std::min(
        room, provider.shares[pool_index] - held_of(pools_[pool_index], launch_config.provider));
  return std::max<std::int64_t>(room, 0) / instance_capacity(*launch_config.spec);
}

Weights Fleet::weights_of(const Pool& pool, Time now) const {
  std::vector<bidding::WeightInput> inputs;
  Weights result;
  for (const Index at : pool.launch_configs) {
    const LaunchConfigState& launch_config = launch_configs_[at];
    if (launch_config.status != LaunchConfigStatus::active) continue;
    bidding::WeightInput input{.initial_weight = launch_config.spec->initial_weight,
                               .running = launch_config.totals.running_workers,
                               .health = launch_config.health.last_hour(now)};
    for (const Index worker : launch_config.unregistered)
      if (workers_[worker].state == WorkerState::requested &&
          workers_[worker].launch_config == at) {
        input.oldest_unregistered = now - workers_[worker].since;
        break;
      }
    inputs.push_back(std::move(input));
    result.emplace_back(at, bidding::Weight{});
  }
  const auto weights = bidding::weights(inputs);
  for (std::size_t i = 0; i < result.size(); ++i) result[i].second = weights[i];
  return result;
}

void Fleet::begin_bidding(Index index) {
  Pool& pool = pools_[index];
  Conversation& talk = *pool.conversation;
  pool.talk = BiddingPhase::bidding;
  talk.weights = weights_of(pool, now_.wall);
  std::map<Index, BidRequest> requests;  // by provider
  for (const auto& [at, weight] : talk.weights) {
    LaunchConfigState& launch_config = launch_configs_[at];
    if (weight.value <= 0 && !launch_config.on_probation) {
      launch_config.on_probation = true;
      touch(at);
    }
    std::int64_t instances = 0;
    if (auto obstacle = obstacle_of(index, at, weight, instances)) {
      talk.problems.push_back(std::move(*obstacle));
      continue;
    }
    requests[launch_config.provider].candidates.push_back(
        {launch_config.spec->launch_config, weight.value, instances});
  }
  std::int64_t none = 0;
  for (const Index at : pool.launch_configs)
    if (launch_configs_[at].status == LaunchConfigStatus::paused)
      talk.problems.push_back(*obstacle_of(index, at, {}, none));
  Time earliest = Time::max();
  for (const verdict::Obstacle& problem : talk.problems)
    earliest = std::min(earliest, problem.until.value_or(Time::max()));
  if (requests.empty()) return nobody_bids(index, earliest);
  for (auto& [provider, request] : requests) {
    request.owner = owner_of(providers_[provider]);
    request.worker_pool_id = pool.id;
    request.capacity = talk.wanted;
    talk.bids_awaited += 1;
    ask(AskBids{providers_[provider].id, std::move(request)},
        {.pool = index, .provider = provider});
  }
}

void Fleet::nobody_bids(Index index, Time look_again) {
  Pool& pool = pools_[index];
  verdict::PoolSituation situation =
      situation_of(pool, verdict::Look::nothing_bid, pool.conversation->size_reason);
  const std::string text = verdict::judge(situation, now_.wall).text;
  if (pool.journaled_bids != text) {
    pool.journaled_bids = text;
    journal(pool, "bids", text, {{"wanted", situation.wanted}}, {});
  }
  finish_bidding(index, std::move(situation), look_again);
}

namespace {

// Of a provider that said something else than a bid.
verdict::Obstacle no_bid(const ProviderId& provider, std::string text,
                         std::string cause = verdict::cause::no_bids) {
  return {.cause = std::move(cause),
          .scope = "provider " + provider.str(),
          .text = provider.str() + std::move(text),
          .who = "the maintainer of provider " + provider.str()};
}

}  // namespace

void Fleet::bid(const PendingCall& open, Result<Bids> answer) {
  Pool& pool = pools_[open.pool];
  if (pool.talk != BiddingPhase::bidding) return;
  Conversation& talk = *pool.conversation;
  const ProviderState& provider = providers_[open.provider];
  talk.bids_awaited -= 1;
  if (answer) {
    provider_fine(open.provider);
    for (Error& problem : answer->problems) {
      talk.problems.push_back(
          no_bid(provider.id, ": " + problem.message, std::string(to_string(problem.error_class))));
      if (!problem.scope.whole_provider()) hold(open.provider, problem);
    }
    for (Bid& bid : answer->bids) take_offer(open, std::move(bid));
  } else {
    provider_trouble(open.provider, answer.error());
    talk.problems.push_back(no_bid(provider.id, " does not bid: " + answer.error().message,
                                   std::string(to_string(answer.error().error_class))));
    // What is wrong with the documents of this pool closes the provider to no other pool.
    for (const auto& [at, weight] : talk.weights)
      if (!launch_configs_[at].removed() && launch_configs_[at].provider == open.provider) {
        const Error narrow = narrowed(answer.error(), at);
        hold(open.provider, narrow);
        if (narrow.scope == answer.error().scope) break;
      }
  }
  if (talk.bids_awaited == 0) bids_complete(open.pool);
}

// What does not make sense is left out, with a word.
void Fleet::take_offer(const PendingCall& open, Bid bid) {
  Pool& pool = pools_[open.pool];
  Conversation& talk = *pool.conversation;
  const auto weight = std::ranges::find_if(talk.weights, [&](const auto& entry) {
    const LaunchConfigState& launch_config = launch_configs_[entry.first];
    return !launch_config.removed() && launch_config.pool == open.pool &&
           launch_config.provider == open.provider &&
           launch_config.spec->launch_config.launch_config_id == bid.launch_config_id;
  });
  const bool sensible = weight != talk.weights.end() && bid.instances >= 0 &&
                        std::isfinite(bid.price_per_capacity_hour) &&
                        bid.price_per_capacity_hour >= 0 &&
                        bid.price_per_capacity_hour <= highest_price;
  if (!sensible) {
    talk.problems.push_back(
        no_bid(providers_[open.provider].id,
               " bid what makes no sense for " + shortened(bid.launch_config_id.str())));
    return;
  }
  const std::int64_t room = instances_room(open.pool, weight->first);
  bid.instances = std::min(bid.instances, room);
  if (bid.instances <= 0) return;
  bid.capacity_per_instance = instance_capacity(*launch_configs_[weight->first].spec);
  bid.reliability = std::clamp(bid.reliability, 0.0, 1.0);
  talk.offers.push_back({BidId(std::to_string(talk.offers.size() + 1)),
                         providers_[open.provider].id, weight->second.value, std::move(bid)});
  talk.offer_launch_configs.push_back(weight->first);
}

}  // namespace muster::fleet
