#include "plugins/provider/azure/azure_provider.hpp"

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/machines/bids.hpp"
#include "plugins/provider/azure/diagnosis.hpp"
#include "plugins/provider/azure/example_api.hpp"
#include "plugins/provider/azure/termination.hpp"

namespace muster::azure {

ProviderDescription AzureProvider::describe() {
  return {.description = "Machines of an Azure subscription, Spot and Regular; credentials: " +
                         credentials_implementation(),
          .config_schema = config_schema(),
          .section = words.section,
          .section_schema = section_schema(),
          .facts = {{words.zone_fact, "A zone of the location: westeurope-1"}},
          .capabilities = {capability::notices, capability::diagnosis},
          .field_classes = field_classes(),
          .example_config = example_config(),
          .example_section = example_section()};
}

Result<std::unique_ptr<Provider>> AzureProvider::create(const json::object& config,
                                                        const Context&) {
  auto settings = read_settings(config);
  if (!settings) return settings.error();
  auto attestation = Attestation::create(settings->identity);
  if (!attestation) return attestation.error();
  std::unique_ptr<Api> api =
      settings->example ? std::make_unique<ExampleApi>() : connect(settings->connection);
  return std::make_unique<AzureProvider>(std::move(*settings), std::move(*attestation),
                                         std::move(api));
}

AzureProvider::AzureProvider(Settings settings, std::unique_ptr<Attestation> attestation,
                             std::unique_ptr<Api> api)
    : settings_(std::move(settings)),
      api_(std::move(api)),
      prices_(settings_, *api_),
      quotas_(settings_, *api_),
      follower_(settings_, *api_, late_),
      deployments_(settings_, *api_, follower_),
      leftovers_(settings_, *api_),
      launcher_(settings_, *api_,
                {history_, recent_, late_, follower_, quotas_, deployments_, leftovers_}),
      lister_(settings_, *api_, {recent_, follower_, deployments_, leftovers_}),
      identification_(settings_, *api_, std::move(attestation)) {}

// The configuration says them all: nothing is asked.
Result<Placements> AzureProvider::placements(const PlacementsRequest&, const Context&) {
  Placements found;
  for (const std::string& location : settings_.locations) {
    const auto zones = settings_.zones.find(location);
    if (zones == settings_.zones.end()) {
      found.placements.push_back({{{"region", location}}});
      continue;
    }
    for (const std::string& zone : zones->second)
      found.placements.push_back(
          {{{"region", location}, {words.zone_fact, location + "-" + zone}}});
  }
  return found;
}

Result<Expansion> AzureProvider::expand(const ExpandRequest& request, const Context&) {
  return section_.expand(request);
}

Result<Bids> AzureProvider::bid(const BidRequest& request, const Context& context) {
  BidRequest open = request;
  open.candidates.clear();
  std::vector<Error> problems;
  for (const BidRequest::Candidate& candidate : request.candidates) {
    const auto machine = cloud::read_machine(words, candidate.launch_config);
    const auto failure =
        machine ? late_.about(*machine, candidate.launch_config.launch_config_id, context.now())
                : std::nullopt;
    if (failure)
      problems.push_back(*failure);
    else
      open.candidates.push_back(candidate);
  }
  for (const Error& problem : problems) late_.told(problem);
  const cloud::BidSources sources{
      .note = [&](const cloud::Machine& machine) { prices_.note(machine); },
      .price = [&](const cloud::Machine& machine) { return prices_.of(machine, context); },
      .room = [&](const cloud::Machine& machine) { return quotas_.room(machine, context); }};
  Bids bids = cloud::make_bids(words, open, sources, history_, context);
  bids.problems.insert(bids.problems.end(), problems.begin(), problems.end());
  return bids;
}

Result<Allocation> AzureProvider::allocate(const AllocateRequest& request, const Context& context) {
  if (const auto fine = epochs_.check(request.owner); !fine) return fine.error();
  return launcher_.allocate(request, context);
}

Result<Listing> AzureProvider::list(const ListRequest& request, const Context& context) {
  return lister_.list(request.owner, context);
}

Result<Termination> AzureProvider::terminate(const TerminateRequest& request,
                                             const Context& context) {
  if (const auto fine = epochs_.check(request.owner); !fine) return fine.error();
  return terminate_machines(request, settings_, *api_, recent_, leftovers_, context);
}

Result<Identity> AzureProvider::identify(const IdentifyRequest& request, const Context& context) {
  return identification_.identify(request, context);
}

// Evictions are in the lists, as interruptions of their machines.
Result<Notices> AzureProvider::notices(const NoticesRequest&, const Context& context) {
  follower_.check(context);
  return Notices{.notices = {}, .failed_launches = follower_.take_failures()};
}

Result<Diagnosis> AzureProvider::diagnose(const DiagnoseRequest& request, const Context& context) {
  return Doctor(settings_, *api_, quotas_, context).run(request);
}

}  // namespace muster::azure
