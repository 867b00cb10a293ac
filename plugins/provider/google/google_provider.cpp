#include "plugins/provider/google/google_provider.hpp"

#include <algorithm>

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/machines/bids.hpp"
#include "plugins/provider/google/diagnosis.hpp"
#include "plugins/provider/google/example_api.hpp"
#include "plugins/provider/google/words.hpp"

namespace muster::google {

ProviderDescription GoogleProvider::describe() {
  return {.description = "Machines of a Google Cloud project, spot and standard; credentials: " +
                         credentials_implementation(),
          .config_schema = config_schema(),
          .section = words.section,
          .section_schema = section_schema(),
          .facts = {{words.zone_fact, "A zone of the region: us-central1-a"}},
          .capabilities = {capability::notices, capability::diagnosis},
          .field_classes = field_classes(),
          .example_config = example_config(),
          .example_section = example_section()};
}

Result<std::unique_ptr<Provider>> GoogleProvider::create(const json::object& config,
                                                         const Context&) {
  auto settings = read_settings(config);
  if (!settings) return settings.error();
  std::unique_ptr<Api> api = settings->example ? std::make_unique<ExampleApi>()
                                               : connect(settings->connection, settings->project);
  auto made = over(std::move(*settings), std::move(api));
  if (!made) return made.error();
  return std::unique_ptr<Provider>(std::move(*made));
}

Result<std::unique_ptr<GoogleProvider>> GoogleProvider::over(Settings settings,
                                                             std::unique_ptr<Api> api) {
  std::unique_ptr<GoogleProvider> made(new GoogleProvider(std::move(settings), std::move(api)));
  auto keys = IdentityKeys::read(made->settings_, *made->api_);
  if (!keys) return keys.error();
  made->keys_ = std::move(*keys);
  return made;
}

GoogleProvider::GoogleProvider(Settings settings, std::unique_ptr<Api> api)
    : settings_(std::move(settings)),
      api_(std::move(api)),
      sections_(section_rules(settings_), section_schema()),
      places_(words.zone_fact,
              [this](const std::string& region, const Context& context) {
                return zones_of(region, context);
              }),
      prices_(settings_, *api_),
      quotas_(*api_),
      launches_(*api_, settings_.project),
      launcher_(settings_, *api_, history_, quotas_, launches_),
      preemptions_(*api_) {}

// Zones that the configuration lists are not asked for.
Result<std::vector<std::string>> GoogleProvider::zones_of(const std::string& region,
                                                          const Context& context) {
  std::vector<std::string> zones;
  for (const std::string& zone : settings_.zones)
    if (region_of_zone(zone) == region) zones.push_back(zone);
  if (!zones.empty()) return zones;
  const auto answer = api_->call({.method = "regions.get",
                                  .path = {{"region", region}},
                                  .query = {{"fields", "name,zones"}},
                                  .about = scope_of_region(region)},
                                 context);
  if (!answer) return answer.error();
  if (const json::value* listed = answer->if_contains("zones"); listed && listed->is_array())
    for (const json::value& zone : listed->get_array())
      if (zone.is_string()) zones.push_back(last_part(zone.get_string()));
  std::ranges::sort(zones);
  return zones;
}

Result<Placements> GoogleProvider::placements(const PlacementsRequest&, const Context& context) {
  return places_.placements(settings_.regions, context);
}

Result<Expansion> GoogleProvider::expand(const ExpandRequest& request, const Context&) {
  return sections_.expand(request);
}

Result<Bids> GoogleProvider::bid(const BidRequest& request, const Context& context) {
  prices_.advance(context);
  return cloud::make_bids(
      words, request,
      {.price = [&](const cloud::Machine& machine) { return prices_.of(machine); },
       .room = [&](const cloud::Machine& machine) { return quotas_.room(machine, context); }},
      history_, context);
}

Result<Allocation> GoogleProvider::allocate(const AllocateRequest& request,
                                            const Context& context) {
  if (const auto fine = epochs_.check(request.owner); !fine) return fine.error();
  return launcher_.allocate(request, context);
}

Result<Listing> GoogleProvider::list(const ListRequest& request, const Context& context) {
  return list_instances(request.owner, settings_, *api_, launches_, context);
}

Result<Termination> GoogleProvider::terminate(const TerminateRequest& request,
                                              const Context& context) {
  if (const auto fine = epochs_.check(request.owner); !fine) return fine.error();
  return terminate_instances(request, *api_, launches_, context);
}

Result<Identity> GoogleProvider::identify(const IdentifyRequest& request, const Context& context) {
  return identify_worker(request, settings_, *keys_, seen_, context);
}

Result<Notices> GoogleProvider::notices(const NoticesRequest&, const Context& context) {
  launches_.refresh(context);
  auto notices = preemptions_.collect(context);
  // What is known of launches does not wait for what is not known of preemptions.
  if (!notices && !context.cancelled()) {
    const std::string& why = notices.error().message;
    context.log(why == preemption_trouble_ ? LogLevel::debug : LogLevel::warning,
                "preemptions are not known: " + why);
    preemption_trouble_ = why;
    notices = Notices{};
  }
  if (notices) notices->failed_launches = launches_.failed_later(context.now());
  return notices;
}

Result<Diagnosis> GoogleProvider::diagnose(const DiagnoseRequest& request, const Context& context) {
  return make_diagnosis(request, settings_, *api_, context);
}

}  // namespace muster::google
