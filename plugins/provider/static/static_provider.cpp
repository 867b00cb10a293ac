#include "plugins/provider/static/static_provider.hpp"

#include <cmath>

#include "plugins/provider/static/identification.hpp"
#include "plugins/provider/static/power.hpp"
#include "plugins/provider/static/settings.hpp"
#include "plugins/provider/static/wanted_state.hpp"

namespace muster::static_machines {
namespace {

const char* const state_key = "state";
const char* const price_key = "pricePerCapacityHour";

Result<void> check_section(const json::value& section) {
  const std::string path = section_name;
  if (!section.is_object()) return Error::invalid(path + ": must be a table");
  for (const auto& member : section.get_object()) {
    if (member.key() == state_key) {
      if (const auto state = WantedState::parse(member.value(), path + ".state"); !state)
        return state.error();
    } else if (member.key() == price_key) {
      const double price = member.value().is_number() ? member.value().to_number<double>() : -1;
      if (!std::isfinite(price) || price < 0)
        return Error::invalid(path + "." + price_key + ": must be a number that is not negative");
    } else {
      return Error::invalid(path + "." + std::string(member.key()) + ": is not known; known are " +
                            state_key + " and " + price_key);
    }
  }
  return {};
}

std::unique_ptr<const Settings> settings_of_region(std::string region) {
  auto settings = std::make_unique<Settings>();
  settings->worker_group = WorkerGroup(region);
  settings->region = std::move(region);
  return settings;
}

}  // namespace

ProviderDescription StaticProvider::describe() {
  return {.description =
              "Machines of a datacenter: announced by name, by key, by relay or by their "
              "owner, or woken when they are needed",
          .config_schema = config_schema(),
          .section = section_name,
          .section_schema = section_schema(),
          .capabilities = {capability::announced_workers},
          .field_classes = {.static_fields = {"static.state"},
                            .dynamic_fields = {},
                            .behavioural_fields = {"static.pricePerCapacityHour"}},
          .example_config = example_config(),
          .example_section = example_section()};
}

Result<std::unique_ptr<Provider>> StaticProvider::create(const json::object& config,
                                                         const Context&) {
  auto settings = read_settings(config);
  if (!settings) return settings.error();
  return std::make_unique<StaticProvider>(std::make_unique<const Settings>(std::move(*settings)));
}

StaticProvider::StaticProvider(std::string region)
    : StaticProvider(settings_of_region(std::move(region))) {}

StaticProvider::StaticProvider(std::unique_ptr<const Settings> settings)
    : settings_(std::move(settings)), power_(std::make_unique<Power>(*settings_)) {}

StaticProvider::~StaticProvider() = default;

Result<Placements> StaticProvider::placements(const PlacementsRequest&, const Context&) {
  return Placements{{{{{"region", settings_->region}}}}};
}

Result<Expansion> StaticProvider::expand(const ExpandRequest& request, const Context&) {
  const json::value* given = request.document.if_contains(section_name);
  if (given)
    if (const auto good = check_section(*given); !good) return good.error();
  json::object document{{section_name, given ? *given : json::value(json::object())}};
  for (const char* key : {"workerManager", "workerConfig"})
    if (const json::value* other = request.document.if_contains(key)) document[key] = *other;
  return Expansion{{{std::move(document), settings_->powered_capacity(request.worker_pool_id)}}};
}

Result<Bids> StaticProvider::bid(const BidRequest& request, const Context& context) {
  return power_->bid(request, context);
}

Result<Allocation> StaticProvider::allocate(const AllocateRequest& request,
                                            const Context& context) {
  return power_->allocate(request, context);
}

Result<Listing> StaticProvider::list(const ListRequest& request, const Context& context) {
  auto instances = power_->list(request, context);
  if (!instances) return instances.error();
  Listing listing{.instances = std::move(*instances)};
  for (const Machine& machine : settings_->machines)
    if (!machine.powered)
      listing.announced.push_back({machine.worker_pool_id, settings_->worker_group,
                                   machine.worker_id, machine.capacity, row_of(machine)});
  return listing;
}

Result<Termination> StaticProvider::terminate(const TerminateRequest& request,
                                              const Context& context) {
  return power_->terminate(request, context);
}

Result<Identity> StaticProvider::identify(const IdentifyRequest& request, const Context&) {
  return static_machines::identify(*settings_, *power_, request);
}

}  // namespace muster::static_machines
