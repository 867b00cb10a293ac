// The simulated cloud as a plugin: real waiting, and a file if one is configured.
#include <thread>

#include <muster/plugin.hpp>

#include "plugins/provider/simulated/cloud.hpp"
#include "plugins/provider/simulated/kept_cloud.hpp"

namespace muster::simulated {
namespace {

using namespace std::chrono_literals;

// By the host's clock, but no longer than the same time on the wall: a host whose clock stands
// still does not hang.
void wait(std::chrono::milliseconds time, const Context& context) {
  const Time until = context.now() + time;
  constexpr auto step = 5ms;
  for (auto waited = 0ms; waited < time && context.now() < until && !context.cancelled();
       waited += step)
    std::this_thread::sleep_for(step);
}

// Says what the plugin is; create() makes a Cloud or a KeptCloud, never one of these.
class Simulated : public Provider {
 public:
  static ProviderDescription describe() {
    return {.description = "A cloud in memory, deterministic from a seed",
            .config_schema = config_schema(),
            .section = "simulated",
            .section_schema = section_schema(),
            .facts = {{"availabilityZone", "The zone of the region, as in `regions`"}},
            .capabilities = {capability::notices},
            .field_classes = {{"simulated.image"}, {"simulated.instanceType"}, {}},
            .example_config = example_config(),
            .example_section = {{"instanceTypes", json::array{"small", "large"}},
                                {"image", "worker-1"}}};
  }

  static Result<std::unique_ptr<Provider>> create(const json::object& config, const Context&) {
    auto settings = read_settings(config);
    if (!settings) return settings.error();
    const std::string file = settings->state_file;
    auto cloud = std::make_unique<Cloud>(std::move(*settings), wait);
    if (file.empty()) return std::unique_ptr<Provider>(std::move(cloud));
    auto kept = std::make_unique<KeptCloud>(std::move(cloud), file);
    if (const auto loaded = kept->load(); !loaded) return loaded.error();
    return std::unique_ptr<Provider>(std::move(kept));
  }
};

}  // namespace
}  // namespace muster::simulated

using muster::simulated::Simulated;
MUSTER_PLUGIN(Simulated);
