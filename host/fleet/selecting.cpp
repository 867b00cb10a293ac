// Which offers are taken, and the intents that come of it.
#include <algorithm>

#include "host/fleet/changing.hpp"
#include "host/fleet/model/sanitize.hpp"

namespace muster::fleet {

void Fleet::bids_complete(Index index) {
  Pool& pool = pools_[index];
  Conversation& talk = *pool.conversation;
  if (!pool.spec) return finish_bidding(index, pool.situation, now_.wall);
  if (talk.offers.empty()) return nobody_bids(index, now_.wall + try_strategy_again);
  pool.talk = BiddingPhase::selecting;
  const std::string& strategy =
      pool.spec->strategy.empty() ? settings_.default_strategy : pool.spec->strategy;
  talk.seed = next_number();
  ask(AskSelection{strategy,
                   {.worker_pool_id = pool.id,
                    .capacity = talk.wanted,
                    .settings = pool.spec->settings,
                    .offers = talk.offers,
                    .seed = static_cast<std::uint64_t>(talk.seed)}},
      {.pool = index});
}

void Fleet::selected(Index index, const Result<Selection>& answer) {
  Pool& pool = pools_[index];
  if (pool.talk != BiddingPhase::selecting) return;
  if (!pool.spec) return finish_bidding(index, pool.situation, now_.wall);
  if (!answer) {
    const std::string said = "the strategy cannot choose among the bids: " + answer.error().message;
    if (std::exchange(pool.journaled_bids, said) != said) journal_selection(index, {{}, said}, 0);
    return finish_bidding(index, situation_of(pool, verdict::Look::undecided, said),
                          now_.wall + try_strategy_again);
  }
  const std::int64_t launched = launch_choices(index, *answer);
  const Conversation& talk = *pool.conversation;
  const std::string declined = talk.size_reason + " → " + answer->reason;
  if (launched > 0 || pool.journaled_bids != declined) journal_selection(index, *answer, launched);
  pool.want = std::max<std::int64_t>(0, pool.want - launched);
  if (launched > 0) pool.journaled_size.clear();
  pool.journaled_bids = launched > 0 ? "" : declined;
  if (launched == 0)
    return finish_bidding(index, situation_of(pool, verdict::Look::nothing_taken, answer->reason),
                          now_.wall + try_strategy_again);
  verdict::PoolSituation situation = situation_of(pool, verdict::Look::launched, answer->reason);
  situation.launched = launched;
  finish_bidding(index, std::move(situation));
  if (pool.want > 0) wake(index);
}

void Fleet::journal_selection(Index index, const Selection& selection, std::int64_t launched) {
  const Pool& pool = pools_[index];
  const Conversation& talk = *pool.conversation;
  json::array offers;
  for (std::size_t i = 0; i < talk.offers.size(); ++i) {
    const SelectRequest::Offer& offer = talk.offers[i];
    const Index at = talk.offer_launch_configs[i];
    const auto weight =
        std::ranges::find(talk.weights, at, [](const auto& entry) { return entry.first; });
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
  for (const verdict::Obstacle& problem : talk.problems) problems.emplace_back(problem.text);
  journal(pool, "select", talk.size_reason + " → " + selection.reason,
          {{"wanted", talk.wanted},
           {"seed", talk.seed},
           {"offers", std::move(offers)},
           {"problems", std::move(problems)}},
          {{"choices", std::move(choices)}, {"capacityLaunched", launched}});
}

// The intents: rows that are durable before anybody is called. Every limit is asked again here, for
// much may have happened since the bids. Returns the capacity.
std::int64_t Fleet::launch_choices(Index index, const Selection& selection) {
  const Conversation& talk = *pools_[index].conversation;
  std::int64_t total = 0;
  std::vector<bool> taken(talk.offers.size(), false);
  for (const Selection::Choice& choice : selection.choices) {
    const auto offer = std::ranges::find(talk.offers, choice.bid_id, &SelectRequest::Offer::bid_id);
    if (offer == talk.offers.end()) continue;
    const auto place = static_cast<std::size_t>(offer - talk.offers.begin());
    if (taken[place]) continue;
    taken[place] = true;
    std::int64_t instances = std::min(choice.instances, offer->bid.instances);
    const std::int64_t capacity = offer->bid.capacity_per_instance;
    // At most one instance more than the last bit of what is wanted.
    instances = std::min(instances, (talk.wanted - total + capacity - 1) / capacity);
    total += launch(index, talk.offer_launch_configs[place], instances, offer->bid) * capacity;
  }
  return total;
}

std::int64_t Fleet::launch(Index pool, Index at, std::int64_t instances, const Bid& bid) {
  if (launch_configs_[at].removed() || launch_configs_[at].pool != pool ||
      launch_configs_[at].status != LaunchConfigStatus::active)
    return 0;
  const std::shared_ptr<const LaunchConfigSpec> spec = launch_configs_[at].spec;
  const Index provider_index = launch_configs_[at].provider;
  if (!providers_[provider_index].up) return 0;
  const std::int64_t capacity = instance_capacity(*spec);
  instances = std::min(instances, capacity_room(pool, at) / capacity);
  if (holds_.find(providers_[provider_index].id, spec->launch_config, now_.wall)) return 0;
  bool canary = false;
  if (const bidding::Hold* hold =
          holds_.probed(providers_[provider_index].id, spec->launch_config, now_.wall)) {
    instances = std::min<std::int64_t>(instances, 1);
    canary = instances > 0 && holds_.begin_probe(*hold);
  }
  if (launch_configs_[at].on_probation) instances = std::min<std::int64_t>(instances, 1);
  if (instances <= 0) return 0;
  ProviderState& provider = providers_[provider_index];
  Launchable launchable{pool, at, bid.data, {}};
  for (std::int64_t i = 0; i < instances; ++i) {
    Worker worker;
    worker.number = next_number();
    worker.pool = pool;
    worker.launch_config = at;
    worker.provider = provider_index;
    worker.capacity = static_cast<std::int32_t>(capacity);
    worker.epoch = epoch_;
    worker.price = bid.price_per_capacity_hour * static_cast<double>(capacity);
    worker.created = worker.since = now_.wall;
    worker.canary = canary;
    worker.reason = "to be launched";
    launchable.workers.push_back(worker.number);
    const Index added = add_worker(std::move(worker));
    { WorkerEdit changing(*this, added); }
    emit_event("worker-requested", workers_[added], "to be launched");
    if (static_cast<std::int64_t>(launchable.workers.size()) >=
        provider.settings.launches_per_call) {
      provider.launchables.push_back(launchable);
      launchable.workers.clear();
    }
  }
  if (!launchable.workers.empty()) provider.launchables.push_back(std::move(launchable));
  return instances;
}

}  // namespace muster::fleet
