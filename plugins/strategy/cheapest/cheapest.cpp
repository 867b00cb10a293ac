// The lowest price first, with health as a discount. How much is needed is counted as classic does.
#include <muster/plugin.hpp>

#include "plugins/strategy/cheapest/selection.hpp"
#include "plugins/strategy/classic/sizing.hpp"

namespace muster::cheapest {
namespace {

class Cheapest final : public BiddingStrategy {
 public:
  static StrategyDescription describe() {
    return {
        .description = "As much as classic, from the offers with the lowest price / health",
        .config_schema = {{"type", "object"},
                          {"additionalProperties", false},
                          {"properties",
                           json::object{
                               {"maxPrice",
                                json::object{{"type", "number"},
                                             {"minimum", 0},
                                             {"description",
                                              "No offer above this price per capacity and hour is "
                                              "taken, whatever its health"}}}}}},
        .example_config = {{"maxPrice", 5}}};
  }

  static Result<std::unique_ptr<BiddingStrategy>> create(const json::object& config,
                                                         const Context&) {
    auto preferences = read_preferences(config, {}, "");
    if (!preferences) return preferences.error();
    return std::make_unique<Cheapest>(*preferences);
  }

  explicit Cheapest(Preferences preferences) : preferences_(preferences) {}

  Result<Size> size(const SizeRequest& request, const Context&) override {
    return classic::size(request);
  }

  Result<Selection> select(const SelectRequest& request, const Context&) override {
    const auto preferences =
        read_preferences(request.settings.strategy, preferences_, "settings.strategy");
    if (!preferences) return preferences.error();
    return cheapest::select(request, *preferences);
  }

 private:
  Preferences preferences_;
};

}  // namespace
}  // namespace muster::cheapest

using muster::cheapest::Cheapest;
MUSTER_PLUGIN(Cheapest);
