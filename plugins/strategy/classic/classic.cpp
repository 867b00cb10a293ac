// aws-provisioner's algorithm, the default strategy. README.md says how its notions map to ours.
#include <muster/plugin.hpp>

#include "plugins/strategy/classic/selection.hpp"
#include "plugins/strategy/classic/sizing.hpp"

namespace muster::classic {
namespace {

json::object config_schema() {
  const auto number = [](const char* description) {
    return json::object{{"type", "number"}, {"minimum", 0}, {"description", description}};
  };
  return {
      {"type", "object"},
      {"additionalProperties", false},
      {"properties",
       json::object{
           {"mode", json::object{{"enum", json::array{"random", "cheapestBiased"}},
                                 {"default", "random"},
                                 {"description",
                                  "random draws each instance from all offers alike; "
                                  "cheapestBiased takes the lowest price × bias first"}}},
           {"minPrice", number("Lower bound of what is bid, per utility and hour")},
           {"maxPrice", number("No offer above this price per utility and hour is taken")},
           {"maxBid", json::object{{"type", "number"},
                                   {"exclusiveMinimum", 0},
                                   {"default", 10},
                                   {"description",
                                    "Above this bid per instance and hour something "
                                    "is wrong and nothing is taken"}}},
           {"utility", json::object{{"type", "object"},
                                    {"additionalProperties",
                                     json::object{{"type", "number"}, {"exclusiveMinimum", 0}}},
                                    {"description",
                                     "How much one unit of capacity is worth, by launchConfigId "
                                     "or providerId; 1 if not named"}}}}}};
}

class Classic final : public BiddingStrategy {
 public:
  static StrategyDescription describe() {
    return {.description =
                "aws-provisioner's algorithm: pending minus requested, in proportion to "
                "running, between the limits",
            .config_schema = config_schema(),
            .example_config = {{"mode", "cheapestBiased"}, {"minPrice", 0.001}, {"maxPrice", 5}}};
  }

  static Result<std::unique_ptr<BiddingStrategy>> create(const json::object& config,
                                                         const Context&) {
    auto preferences = read_preferences(config, {}, "");
    if (!preferences) return preferences.error();
    return std::make_unique<Classic>(std::move(*preferences));
  }

  explicit Classic(Preferences preferences) : preferences_(std::move(preferences)) {}

  Result<Size> size(const SizeRequest& request, const Context&) override {
    return classic::size(request);
  }

  Result<Selection> select(const SelectRequest& request, const Context&) override {
    const auto preferences =
        read_preferences(request.settings.strategy, preferences_, "settings.strategy");
    if (!preferences) return preferences.error();
    return classic::select(request, *preferences);
  }

 private:
  Preferences preferences_;
};

}  // namespace
}  // namespace muster::classic

using muster::classic::Classic;
MUSTER_PLUGIN(Classic);
