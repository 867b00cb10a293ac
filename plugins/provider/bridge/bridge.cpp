// A provider in any language, behind HTTP. docs/external-services.md has the protocol.
#include <muster/plugin.hpp>

#include "plugins/provider/bridge/bridge_provider.hpp"

namespace muster::bridge {
namespace {

// Says what the plugin is; create() makes a BridgeProvider, never one of these.
class Bridge : public Provider {
 public:
  static ProviderDescription describe() { return description(); }

  static Result<std::unique_ptr<Provider>> create(const json::object& config, const Context&) {
    auto settings = read_settings(config);
    if (!settings) return settings.error();
    std::string name = settings->endpoint.url;
    return std::make_unique<BridgeProvider>(
        settings->example ? example_service() : http_service_at(std::move(settings->endpoint)),
        std::move(name));
  }
};

}  // namespace
}  // namespace muster::bridge

using muster::bridge::Bridge;
MUSTER_PLUGIN(Bridge);
