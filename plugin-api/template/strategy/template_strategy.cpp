// A strategy that gives every waiting unit of demand a worker and takes the cheapest offers first.
// It keeps every promise of the contract; make it yours, and let the test tell you what you broke.
#include <algorithm>
#include <vector>

#include <muster/plugin.hpp>

namespace template_strategy {
namespace {

using namespace muster;

// The instance's configuration, as operators write it. The schema in describe() says the same.
struct Config {
  double max_price = 1.0;

  static constexpr auto fields(auto visit) {
    return visit(optional("maxPrice", &Config::max_price));
  }
};

class TemplateStrategy final : public muster::BiddingStrategy {
 public:
  static StrategyDescription describe() {
    return {.description = "A worker for everything that waits, the cheapest first",
            .config_schema = {{"type", "object"},
                              {"additionalProperties", false},
                              {"properties",
                               {{"maxPrice",
                                 {{"type", "number"},
                                  {"minimum", 0},
                                  {"description", "Per unit of capacity and hour"}}}}}},
            .example_config = {{"maxPrice", 0.5}}};
  }

  static Result<std::unique_ptr<muster::BiddingStrategy>> create(const json::object& config,
                                                                 const Context&) {
    const auto read = from_value<Config>(json::value(config));
    if (!read) return read.error();
    if (read->max_price < 0) return Error::invalid("maxPrice: is negative");
    return std::make_unique<TemplateStrategy>(*read);
  }

  explicit TemplateStrategy(Config config) : config_(config) {}

  // Decides from the request and nothing else: same request, same answer. The reason is shown to
  // people; put the numbers into it.
  Result<Size> size(const SizeRequest& request, const Context&) override {
    const std::int64_t present = request.capacity.running + request.capacity.requested;
    const std::int64_t wanted =
        std::clamp(present + request.pending - request.capacity.requested,
                   std::min(request.settings.min_capacity, request.settings.max_capacity),
                   request.settings.max_capacity);
    return Size{wanted - present, std::to_string(wanted) + " wanted, " + std::to_string(present) +
                                      " present or requested"};
  }

  Result<Selection> select(const SelectRequest& request, const Context&) override {
    std::vector<const SelectRequest::Offer*> offers;
    for (const auto& offer : request.offers)
      if (offer.weight > 0 && offer.bid.instances > 0 && offer.bid.capacity_per_instance > 0 &&
          offer.bid.price_per_capacity_hour <= config_.max_price)
        offers.push_back(&offer);
    std::stable_sort(offers.begin(), offers.end(), [](const auto* a, const auto* b) {
      return a->bid.price_per_capacity_hour < b->bid.price_per_capacity_hour;
    });
    Selection selection;
    std::int64_t needed = std::max<std::int64_t>(0, request.capacity);
    for (const auto* offer : offers) {
      if (needed <= 0) break;
      const std::int64_t each = offer->bid.capacity_per_instance;
      const std::int64_t count = std::min(offer->bid.instances, (needed - 1) / each + 1);
      selection.choices.push_back({offer->bid_id, count});
      needed -= count * each;
    }
    selection.reason = "the cheapest of " + std::to_string(offers.size()) + " offers up to " +
                       std::to_string(config_.max_price) + "; " +
                       std::to_string(std::max<std::int64_t>(0, needed)) + " not covered";
    return selection;
  }

 private:
  Config config_;
};

}  // namespace
}  // namespace template_strategy

MUSTER_PLUGIN(template_strategy::TemplateStrategy);
