#include "plugins/provider/aws/bidding.hpp"

#include <algorithm>
#include <cmath>

namespace muster::aws {
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

Result<Bid> make_bid(const BidRequest::Candidate& candidate, std::int64_t capacity, Prices& prices,
                     LaunchHistory& history, const Context& context) {
  const LaunchConfig& launch_config = candidate.launch_config;
  const auto machine = read_machine(launch_config);
  if (!machine) return machine.error();
  const auto price = prices.of(*machine, context);
  if (!price) return about(launch_config, price.error());
  const std::string name = machine->type_and_market() + " in " + machine->zone;
  if (machine->max_price && price->per_hour > *machine->max_price)
    return Error::capacity(name + " costs " + in_dollars(price->per_hour) + " an hour (" +
                           price->source + "), more than maxPrice " +
                           in_dollars(*machine->max_price))
        .of_launch_config(launch_config.launch_config_id.str())
        .hold_for(5min)
        .with_code("maxPrice");
  const std::int64_t each = std::max<std::int64_t>(1, launch_config.capacity_per_instance);
  const std::int64_t needed = capacity <= 0 ? 0 : (capacity - 1) / each + 1;
  return Bid{
      .launch_config_id = launch_config.launch_config_id,
      .capacity_per_instance = each,
      .instances = std::clamp<std::int64_t>(candidate.max_instances.value_or(needed), 0, needed),
      .price_per_capacity_hour = price->per_hour / static_cast<double>(each),
      .reliability = history.reliability(*machine, context.now()),
      .data = json::object{{"v", 1}, {"pricePerHour", price->per_hour}},
      .reason = name + ": " + in_dollars(price->per_hour) + " an hour, " + price->source};
}

}  // namespace

Bids make_bids(const BidRequest& request, Prices& prices, LaunchHistory& history,
               const Context& context) {
  Bids bids;
  // All types first, so that one question for the region has them all.
  for (const BidRequest::Candidate& candidate : request.candidates)
    if (const auto machine = read_machine(candidate.launch_config); machine && machine->is_spot())
      prices.note(machine->region, machine->product, machine->instance_type);
  for (const BidRequest::Candidate& candidate : request.candidates) {
    auto made = make_bid(candidate, request.capacity, prices, history, context);
    if (!made)
      bids.problems.push_back(made.error());
    else if (made->instances > 0)
      bids.bids.push_back(std::move(*made));
  }
  return bids;
}

}  // namespace muster::aws
