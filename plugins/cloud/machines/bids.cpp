#include "plugins/cloud/machines/bids.hpp"

#include <algorithm>
#include <cmath>

namespace muster::cloud {
namespace {

using namespace std::chrono_literals;

std::string in_dollars(double price) {
  return "$" + json::write(json::value(std::round(price * 1e5) / 1e5));
}

// What is wrong is so for this launch configuration; the region's own trouble has its own scope.
Error about(const LaunchConfig& launch_config, Error error) {
  if (error.scope.whole_provider())
    error.scope.launch_config_id = launch_config.launch_config_id.str();
  return error;
}

Result<Bid> make_bid(const Machine& machine, const BidRequest::Candidate& candidate,
                     std::int64_t capacity, const BidSources& sources, LaunchHistory& history,
                     const Context& context) {
  const LaunchConfig& launch_config = candidate.launch_config;
  const auto price = sources.price(machine);
  if (!price) return about(launch_config, price.error());
  const std::string name = machine.type_and_market() + " in " + machine.place();
  if (machine.max_price && price->per_hour > *machine.max_price)
    return Error::capacity(name + " costs " + in_dollars(price->per_hour) + " an hour (" +
                           price->source + "), more than maxPrice " +
                           in_dollars(*machine.max_price))
        .of_launch_config(launch_config.launch_config_id.str())
        .hold_for(5min)
        .with_code("maxPrice");
  const std::int64_t each = std::max<std::int64_t>(1, launch_config.capacity_per_instance);
  std::int64_t offered = capacity <= 0 ? 0 : (capacity - 1) / each + 1;
  offered = std::min(offered, candidate.max_instances.value_or(offered));
  if (sources.room && offered > 0) {
    const auto room = sources.room(machine);
    if (!room) return about(launch_config, room.error());
    offered = std::min(offered, room->value_or(offered));
  }
  return Bid{.launch_config_id = launch_config.launch_config_id,
             .capacity_per_instance = each,
             .instances = std::max<std::int64_t>(0, offered),
             .price_per_capacity_hour = price->per_hour / static_cast<double>(each),
             .reliability = history.reliability(machine, context.now()),
             .data = json::object{{"v", 1}, {"pricePerHour", price->per_hour}},
             .reason = name + ": " + in_dollars(price->per_hour) + " an hour, " + price->source};
}

}  // namespace

Bids make_bids(const Words& words, const BidRequest& request, const BidSources& sources,
               LaunchHistory& history, const Context& context) {
  Bids bids;
  std::vector<Result<Machine>> machines;
  machines.reserve(request.candidates.size());
  for (const BidRequest::Candidate& candidate : request.candidates) {
    machines.push_back(read_machine(words, candidate.launch_config));
    if (machines.back() && sources.note) sources.note(*machines.back());
  }
  for (std::size_t at = 0; at < machines.size(); ++at) {
    auto made = machines[at] ? make_bid(*machines[at], request.candidates[at], request.capacity,
                                        sources, history, context)
                             : Result<Bid>(machines[at].error());
    if (!made)
      bids.problems.push_back(made.error());
    else if (made->instances > 0)
      bids.bids.push_back(std::move(*made));
  }
  return bids;
}

}  // namespace muster::cloud
