// Which offers are taken.
#include <algorithm>

#include "host/fleet/bidding/auction.hpp"

namespace muster::fleet {
namespace {

constexpr std::size_t usual_offer_bytes = 256;  // in the journal

}  // namespace

void Auction::bids_complete(Index index) {
  const Pool& pool = pools_[index];
  Entry& entry = this->entry(index);
  Bidding& bidding = *entry.bidding;
  if (!pool.spec) return finish(index, pool.situation, clock_.now());
  SelectRequest& request = *bidding.request;
  if (request.offers.empty()) return nobody_bids(index, clock_.now() + try_strategy_again);
  entry.phase = Phase::selecting;
  request.worker_pool_id = pool.id;
  request.capacity = bidding.wanted;
  request.settings = pool.spec->settings;
  request.seed = static_cast<std::uint64_t>(outbox_.next_number());
  calls_.ask(AskSelection{strategy_of(pool), bidding.request}, {.pool = index});
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

// Written straight as text: it is the longest entry of the journal, made for each launch.
void Auction::journal_selection(Index index, const Selection& selection, std::int64_t launched) {
  const Bidding& bidding = *entry(index).bidding;
  std::string inputs = "{\"wanted\":" + std::to_string(bidding.wanted) +
                       ",\"seed\":" + std::to_string(bidding.request->seed) + ",\"offers\":[";
  inputs.reserve(256 + usual_offer_bytes * bidding.request->offers.size());
  const auto text = [](std::string& out, std::string_view name, const std::string& value) {
    out += name;
    json::append_string(out, value);
  };
  const auto number = [&](std::string_view name, double value) {
    inputs += name;
    json::append_number(inputs, value);
  };
  for (std::size_t i = 0; i < bidding.request->offers.size(); ++i) {
    const SelectRequest::Offer& offer = bidding.request->offers[i];
    text(inputs, i == 0 ? "{\"bidId\":" : ",{\"bidId\":", offer.bid_id.str());
    text(inputs, ",\"providerId\":", offer.provider_id.str());
    text(inputs, ",\"launchConfigId\":", offer.bid.launch_config_id.str());
    (inputs += ",\"instances\":") += std::to_string(offer.bid.instances);
    number(",\"pricePerCapacityHour\":", offer.bid.price_per_capacity_hour);
    number(",\"reliability\":", offer.bid.reliability);
    number(",\"weight\":", offer.weight);
    text(inputs, ",\"arithmetic\":", bidding.weights[bidding.offer_weights[i]].second.arithmetic);
    inputs += '}';
  }
  inputs += "],\"problems\":[";
  for (const verdict::Obstacle& problem : bidding.problems)
    text(inputs, &problem == &bidding.problems.front() ? "" : ",", problem.text);
  inputs += "]}";
  std::string outputs = "{\"choices\":[";
  for (const Selection::Choice& choice : selection.choices) {
    const bool first = &choice == &selection.choices.front();
    text(outputs, first ? "{\"bidId\":" : ",{\"bidId\":", choice.bid_id.str());
    ((outputs += ",\"instances\":") += std::to_string(choice.instances)) += '}';
  }
  outputs += "],\"capacityLaunched\":" + std::to_string(launched) + "}";
  outbox_.journal_text(pools_[index], "select", bidding.size_reason + " → " + selection.reason,
                       inputs, outputs);
}

// At most what is wanted, each offer once. Returns the capacity.
std::int64_t Auction::launch_choices(Index index, const Selection& selection) {
  const Bidding& bidding = *entry(index).bidding;
  std::int64_t total = 0;
  const std::vector<SelectRequest::Offer>& offers = bidding.request->offers;
  std::vector<bool> taken(offers.size(), false);
  for (const Selection::Choice& choice : selection.choices) {
    const auto offer = std::ranges::find(offers, choice.bid_id, &SelectRequest::Offer::bid_id);
    if (offer == offers.end()) continue;
    const auto place = static_cast<std::size_t>(offer - offers.begin());
    if (taken[place]) continue;
    taken[place] = true;
    std::int64_t instances = std::min(choice.instances, offer->bid.instances);
    const std::int64_t capacity = offer->bid.capacity_per_instance;
    // At most one instance more than the last bit of what is wanted.
    instances = std::min(instances, (bidding.wanted - total + capacity - 1) / capacity);
    const Index launch_config = bidding.weights[bidding.offer_weights[place]].first;
    total += dispatcher_.launch(index, launch_config, instances, offer->bid) * capacity;
  }
  return total;
}

}  // namespace muster::fleet
