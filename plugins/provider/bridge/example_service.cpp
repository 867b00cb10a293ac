#include <muster/plugin.hpp>

#include "plugins/provider/bridge/service.hpp"
#include "plugins/provider/simulated/cloud.hpp"

namespace muster::bridge {
namespace {

class ExampleService final : public Service {
 public:
  explicit ExampleService(simulated::Settings settings) : cloud_(std::move(settings)) {}

  Result<std::string> call(const std::string& method, const std::string& document,
                           const Context& context) override {
    return plugin::dispatch(cloud_, method, method == "expand" ? renamed(document) : document,
                            context);
  }

 private:
  // The cloud looks for its own section.
  static std::string renamed(const std::string& request) {
    json::object document = json::parse_object(request).value();
    json::object& configuration = document["document"].as_object();
    if (const json::value* found = configuration.if_contains(section)) {
      json::value moved = *found;
      configuration.erase(section);
      configuration["simulated"] = std::move(moved);
    }
    return json::write(document);
  }

  simulated::Cloud cloud_;
};

}  // namespace

std::unique_ptr<Service> example_service() {
  return std::make_unique<ExampleService>(
      simulated::read_settings(simulated::example_config()).value());
}

}  // namespace muster::bridge
