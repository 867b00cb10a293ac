// Size and select by an HTTP service of the operator's. docs/external-services.md has the protocol.
#include <muster/plugin.hpp>

#include "plugins/strategy/external/strategy.hpp"

namespace muster::external {
namespace {

// Says what the plugin is; create() makes a Strategy, never one of these.
class External : public BiddingStrategy {
 public:
  static StrategyDescription describe() {
    return {.description = "Asks an HTTP service, and classic when the service does not help",
            .config_schema = config_schema(),
            // Nobody listens there: the example shows that classic takes over.
            .example_config = {{"url", "http://127.0.0.1:1/strategy"}, {"timeoutSeconds", 0.5}}};
  }

  static Result<std::unique_ptr<BiddingStrategy>> create(const json::object& config,
                                                         const Context&) {
    auto settings = read_settings(config);
    if (!settings) return settings.error();
    return std::make_unique<Strategy>(std::move(*settings));
  }
};

}  // namespace
}  // namespace muster::external

using muster::external::External;
MUSTER_PLUGIN(External);
