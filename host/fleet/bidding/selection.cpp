// Which offers are taken.
#include <algorithm>

#include "host/fleet/bidding/auction.hpp"

namespace muster::fleet {

void Auction::bids_complete(Index index) {
  const Pool& pool = pools_[index];
  Entry& entry = this->entry(index);
  Bidding& bidding = *entry.bidding;
  if (!pool.spec) return finish(index, pool.situation, clock_.now());
  if (bidding.offers.empty()) return nobody_bids(index, clock_.now() + try_strategy_again);
  entry.phase = Phase::selecting;
  bidding.seed = outbox_.next_number();
  calls_.ask(AskSelection{strategy_of(pool),
                          {.worker_pool_id = pool.id,
                           .capacity = bidding.wanted,
                           .settings = pool.spec->settings,
                           .offers = bidding.offers,
                           .seed = static_cast<std::uint64_t>(bidding.seed)}},
             {.pool = index});
}

void Auction::selected(Index index, const Result<Selection>& answer) {
  Pool& pool = pools_[index];
  Entry& entry = this->entry(index);
  if (entry.phase != Phase::selecting) return;
  if (!pool.spec) return finish(index, pool.situation, clock_.now());
  if (!answer) {
    const std::string said = "the strategy cannot choose among the bids: " + answer.error().message;
    if (std::exchange(entry.journaled_bids, said) != said) journal_selection(index, {{}, said}, 0);
    return finish(index, situation_of(index, verdict::PoolOutcome::strategy_failed, said),
                  clock_.now() + try_strategy_again);
  }
  const std::int64_t launched = launch_choices(index, *answer);
  const Bidding& bidding = *entry.bidding;
  const std::string declined = bidding.size_reason + " → " + answer->reason;
  if (launched > 0 || entry.journaled_bids != declined) journal_selection(index, *answer, launched);
  pool.want = std::max<std::int64_t>(0, pool.want - launched);
  if (launched > 0) entry.journaled_size.clear();
  entry.journaled_bids = launched > 0 ? "" : declined;
  if (launched == 0)
    return finish(index, situation_of(index, verdict::PoolOutcome::bids_refused, answer->reason),
                  clock_.now() + try_strategy_again);
  verdict::PoolSituation situation =
      situation_of(index, verdict::PoolOutcome::launched, answer->reason);
  situation.launched = launched;
  finish(index, std::move(situation));
  if (pool.want > 0) agenda_.wake(index);
}

void Auction::journal_selection(Index index, const Selection& selection, std::int64_t launched) {
  const Pool& pool = pools_[index];
  const Bidding& bidding = *entry(index).bidding;
  json::array offers;
  for (std::size_t i = 0; i < bidding.offers.size(); ++i) {
    const SelectRequest::Offer& offer = bidding.offers[i];
    const Index at = bidding.offer_launch_configs[i];
    const auto weight =
        std::ranges::find(bidding.weights, at, [](const auto& entry) { return entry.first; });
    offers.push_back(json::object{{"bidId", offer.bid_id.str()},
                                  {"providerId", offer.provider_id.str()},
                                  {"launchConfigId", offer.bid.launch_config_id.str()},
                                  {"instances", offer.bid.instances},
                                  {"pricePerCapacityHour", offer.bid.price_per_capacity_hour},
                                  {"reliability", offer.bid.reliability},
                                  {"weight", offer.weight},
                                  {"arithmetic", weight->second.arithmetic}});
  }
  json::array choices;
  for (const Selection::Choice& choice : selection.choices)
    choices.push_back(
        json::object{{"bidId", choice.bid_id.str()}, {"instances", choice.instances}});
  json::array problems;
  for (const verdict::Obstacle& problem : bidding.problems) problems.emplace_back(problem.text);
  outbox_.journal(pool, "select", bidding.size_reason + " → " + selection.reason,
                  {{"wanted", bidding.wanted},
                   {"seed", bidding.seed},
                   {"offers", std::move(offers)},
                   {"problems", std::move(problems)}},
                  {{"choices", std::move(choices)}, {"capacityLaunched", launched}});
}

// At most what is wanted, each offer once. Returns the capacity.
std::int64_t Auction::launch_choices(Index index, const Selection& selection) {
  const Bidding& bidding = *entry(index).bidding;
  std::int64_t total = 0;
  std::vector<bool> taken(bidding.offers.size(), false);
  for (const Selection::Choice& choice : selection.choices) {
    const auto offer =
        std::ranges::find(bidding.offers, choice.bid_id, &SelectRequest::Offer::bid_id);
    if (offer == bidding.offers.end()) continue;
    const auto place = static_cast<std::size_t>(offer - bidding.offers.begin());
    if (taken[place]) continue;
    taken[place] = true;
    std::int64_t instances = std::min(choice.instances, offer->bid.instances);
    const std::int64_t capacity = offer->bid.capacity_per_instance;
    // At most one instance more than the last bit of what is wanted.
    instances = std::min(instances, (bidding.wanted - total + capacity - 1) / capacity);
    total += dispatcher_.launch(index, bidding.offer_launch_configs[place], instances, offer->bid) *
             capacity;
  }
  return total;
}

}  // namespace muster::fleet
