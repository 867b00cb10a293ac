// What providers offer: candidates within all limits, and the bids for them.
#include <algorithm>
#include <cmath>
#include <map>

#include <muster/codec.hpp>

#include "host/fleet/bidding/auction.hpp"
#include "host/fleet/model/sanitize.hpp"

namespace muster::fleet {
namespace {

// Of a provider that did not bid.
verdict::Obstacle no_bid(const ProviderId& provider, std::string text,
                         std::string cause = verdict::cause::no_bids) {
  return {.cause = std::move(cause),
          .scope = "provider " + provider.str(),
          .text = provider.str() + std::move(text),
          .who = "the maintainer of provider " + provider.str()};
}

}  // namespace

std::vector<Index> Auction::take_sized() {
  if (!sized_.empty()) limits_.share_scarce_providers();
  return std::exchange(sized_, {});
}

void Auction::bid_for(Index pool) {
  if (entry(pool).phase != Phase::sized) return;
  if (waits_for_fairness(pool))
    sized_.push_back(pool);
  else
    begin_bidding(pool);
}

// Only while a shared limit is about to be reached, and only for a moment, others are waited for.
bool Auction::waits_for_fairness(Index index) {
  const Pool& pool = pools_[index];
  const Entry& entry = this->entry(index);
  if (sizing_ == 0 || clock_.now() >= entry.sized_at + fairness_wait ||
      clock_.now() < entry.sized_at)
    return false;
  return std::ranges::any_of(pool.launch_configs, [&](Index at) {
    const ProviderState& provider = providers_[launch_configs_[at].provider];
    return provider.settings.max_capacity &&
           *provider.settings.max_capacity - provider.totals.occupied() < 2 * pool.want;
  });
}

void Auction::begin_bidding(Index index) {
  const Pool& pool = pools_[index];
  Entry& entry = this->entry(index);
  Bidding& bidding = *entry.bidding;
  entry.phase = Phase::bidding;
  bidding.weights = limits_.weights_of(pool, clock_.now());
  std::map<Index, AskBids> requests;  // by provider
  for (const auto& [at, weight] : bidding.weights) {
    LaunchConfigState& launch_config = launch_configs_[at];
    if (weight.value <= 0 && !launch_config.on_probation) {
      launch_config.on_probation = true;
      registry_.touch(at);
    }
    std::int64_t instances = 0;
    if (auto obstacle = limits_.obstacle_of(index, at, weight, instances)) {
      bidding.problems.push_back(std::move(*obstacle));
      continue;
    }
    requests[launch_config.provider].candidates.push_back(
        {launch_config.spec, weight.value, instances});
  }
  std::int64_t none = 0;
  for (const Index at : pool.launch_configs)
    if (launch_configs_[at].status == LaunchConfigStatus::paused)
      bidding.problems.push_back(*limits_.obstacle_of(index, at, {}, none));
  std::ranges::move(limits_.missing_providers(index), std::back_inserter(bidding.problems));
  Time earliest = Time::max();
  for (const verdict::Obstacle& problem : bidding.problems)
    earliest = std::min(earliest, problem.until.value_or(Time::max()));
  if (requests.empty()) return nobody_bids(index, earliest);
  for (auto& [provider, request] : requests) {
    request.provider_id = providers_[provider].id;
    request.owner = identity_.owner_of(request.provider_id);
    request.worker_pool_id = pool.id;
    request.capacity = bidding.wanted;
    bidding.bids_awaited += 1;
    calls_.ask(std::move(request), {.pool = index, .provider = provider});
  }
}

void Auction::nobody_bids(Index index, Time next_review) {
  const Pool& pool = pools_[index];
  Entry& entry = this->entry(index);
  verdict::PoolSituation situation =
      situation_of(index, verdict::PoolOutcome::no_bids, entry.bidding->size_reason);
  const std::string text = verdict::judge(situation, clock_.now()).text;
  if (entry.journaled_bids != text) {
    entry.journaled_bids = text;
    outbox_.journal(pool, "bids", text, {{"wanted", situation.wanted}}, {});
  }
  finish(index, std::move(situation), next_review);
}

void Auction::bid(const PendingCall& call, Result<Bids> answer) {
  Entry& entry = this->entry(call.pool);
  if (entry.phase != Phase::bidding) return;
  Bidding& bidding = *entry.bidding;
  const ProviderState& provider = providers_[call.provider];
  bidding.bids_awaited -= 1;
  if (answer) {
    registry_.provider_fine(call.provider);
    for (Error& problem : answer->problems) {
      bidding.problems.push_back(
          no_bid(provider.id, ": " + problem.message, std::string(to_string(problem.error_class))));
      if (!problem.scope.whole_provider()) holds_.hold(call.provider, problem);
    }
    for (Bid& bid : answer->bids) take_offer(call, std::move(bid));
  } else {
    registry_.provider_trouble(call.provider, answer.error().message, clock_.now());
    bidding.problems.push_back(no_bid(provider.id, " does not bid: " + answer.error().message,
                                      std::string(to_string(answer.error().error_class))));
    // What is wrong with the documents of this pool closes the provider to no other pool.
    for (const auto& [at, weight] : bidding.weights)
      if (!launch_configs_[at].removed() && launch_configs_[at].provider == call.provider) {
        const Error narrow = holds_.narrowed(answer.error(), at);
        holds_.hold(call.provider, narrow);
        if (narrow.scope == answer.error().scope) break;
      }
  }
  if (bidding.bids_awaited == 0) bids_complete(call.pool);
}

// An offer that makes no sense is left out and noted as a problem.
void Auction::take_offer(const PendingCall& call, Bid bid) {
  Bidding& bidding = *entry(call.pool).bidding;
  const auto weight = std::ranges::find_if(bidding.weights, [&](const auto& entry) {
    const LaunchConfigState& launch_config = launch_configs_[entry.first];
    return !launch_config.removed() && launch_config.pool == call.pool &&
           launch_config.provider == call.provider &&
           launch_config.spec->launch_config.launch_config_id == bid.launch_config_id;
  });
  const bool valid = weight != bidding.weights.end() && bid.instances >= 0 &&
                     std::isfinite(bid.price_per_capacity_hour) &&
                     bid.price_per_capacity_hour >= 0 &&
                     bid.price_per_capacity_hour <= highest_price;
  if (!valid) {
    bidding.problems.push_back(
        no_bid(providers_[call.provider].id,
               " bid what makes no sense for " + shortened(bid.launch_config_id.str())));
    return;
  }
  const std::int64_t room = limits_.instances_room(call.pool, weight->first);
  bid.instances = std::min(bid.instances, room);
  if (bid.instances <= 0) return;
  bid.capacity_per_instance = instance_capacity(*launch_configs_[weight->first].spec);
  bid.reliability = std::clamp(bid.reliability, 0.0, 1.0);
  auto& offers = bidding.request->offers;
  offers.push_back({BidId(std::to_string(offers.size() + 1)), providers_[call.provider].id,
                    weight->second.value, std::move(bid)});
  bidding.offer_weights.push_back(static_cast<std::size_t>(weight - bidding.weights.begin()));
}

}  // namespace muster::fleet
