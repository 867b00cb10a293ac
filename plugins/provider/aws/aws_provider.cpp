#include "plugins/provider/aws/aws_provider.hpp"

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/machines/bids.hpp"
#include "plugins/provider/aws/diagnosis.hpp"
#include "plugins/provider/aws/example_api.hpp"
#include "plugins/provider/aws/identification.hpp"
#include "plugins/provider/aws/listing.hpp"
#include "plugins/provider/aws/termination.hpp"

namespace muster::aws {

ProviderDescription AwsProvider::describe() {
  return {.description = "Machines of an AWS account, spot and on demand; credentials: " +
                         credentials_implementation(),
          .config_schema = config_schema(),
          .section = section_name,
          .section_schema = section_schema(Model()),
          .facts = {{"availabilityZone", "A zone of the region: us-east-1a"}},
          .capabilities = {capability::notices, capability::diagnosis},
          .field_classes = field_classes(),
          // EC2 counts the machines that an account launches in a region: a thousand at once. One
          // call may launch any number of them; more in a call are more that fail together.
          .launch_pace = {.per_call = 100, .burst = 1000},
          .example_config = example_config(),
          .example_section = example_section()};
}

Result<std::unique_ptr<Provider>> AwsProvider::create(const json::object& config, const Context&) {
  auto settings = read_settings(config);
  if (!settings) return settings.error();
  auto keys = IdentityKeys::read(*settings);
  if (!keys) return keys.error();
  std::unique_ptr<Api> api = settings->example
                                 ? example_api(settings->regions)
                                 : connect(settings->connection, settings->home_region);
  return std::make_unique<AwsProvider>(std::move(*settings), std::move(*keys), std::move(api));
}

AwsProvider::AwsProvider(Settings settings, std::unique_ptr<const IdentityKeys> keys,
                         std::unique_ptr<Api> api)
    : settings_(std::move(settings)),
      keys_(std::move(keys)),
      api_(std::move(api)),
      sections_(section_rules(), section_schema(Model())),
      regions_(settings_, *api_),
      prices_(settings_, *api_),
      reclaimed_(*api_, history_),
      launcher_(settings_, *api_, history_, recent_, quota_memory_),
      interruptions_(settings_, *api_) {}

Result<Placements> AwsProvider::placements(const PlacementsRequest&, const Context& context) {
  return regions_.placements(context);
}

Result<Expansion> AwsProvider::expand(const ExpandRequest& request, const Context&) {
  auto expansion = sections_.expand(request);
  if (!expansion) return expansion;
  // So that the first question for prices has all types.
  const auto region = request.placement.facts.find("region");
  if (region != request.placement.facts.end())
    for (const LaunchDocument& made : expansion->launch_documents) {
      const json::object& section = made.document.at(section_name).as_object();
      const std::string product = text_of(section, "product");
      if (text_of(section, "market") == spot)
        prices_.note(region->second, product.empty() ? linux_product : product,
                     text_of(section, "instanceType"));
    }
  return expansion;
}

Result<Bids> AwsProvider::bid(const BidRequest& request, const Context& context) {
  std::set<std::string> spot_regions;
  for (const BidRequest::Candidate& candidate : request.candidates)
    if (const auto machine = read_machine(words, candidate.launch_config);
        machine && machine->is_spot())
      spot_regions.insert(machine->region);
  reclaimed_.refresh(request.owner, spot_regions, context);
  const BidSources sources{
      .note =
          [&](const Machine& machine) {
            if (machine.is_spot())
              prices_.note(machine.region, product_of(machine), machine.instance_type);
          },
      .price = [&](const Machine& machine) { return prices_.of(machine, context); },
      .room = [&](const Machine& machine) -> Result<std::optional<std::int64_t>> {
        if (quota_memory_.empty()) return std::optional<std::int64_t>();
        const std::string quota = quotas_.of(machine.instance_type, machine.is_spot()).name;
        if (const auto error = quota_memory_.tell(machine, quota, context.now())) return *error;
        return std::optional<std::int64_t>();
      }};
  return make_bids(words, request, sources, history_, context);
}

Result<Allocation> AwsProvider::allocate(const AllocateRequest& request, const Context& context) {
  if (const auto fine = epochs_.check(request.owner); !fine) return fine.error();
  return launcher_.allocate(request, context);
}

Result<Listing> AwsProvider::list(const ListRequest& request, const Context& context) {
  const auto regions = regions_.names(context);
  if (!regions) return regions.error();
  Listing listing = list_instances(request.owner, *regions, *api_, recent_, context);
  if (listing.problems.size() == regions->size() && !regions->empty())
    return listing.problems.front();
  note_running(listing, *regions);
  return listing;
}

// A region that has a problem is as it was.
void AwsProvider::note_running(const Listing& listing, const std::vector<std::string>& regions) {
  std::map<std::string, MachineCounts> running;
  for (const std::string& region : regions) running[region];
  for (const Error& problem : listing.problems) running.erase(problem.scope.region.value_or(""));
  for (const Instance& instance : listing.instances) {
    const auto counts = running.find(instance.worker_group.str());
    if (counts == running.end() || instance.state == InstanceState::stopped) continue;
    const json::object& known = instance.provider_data;
    counts->second.add(text_of(known, "zone"),
                       type_and_market(text_of(known, "type"), text_of(known, "market") == spot));
  }
  for (auto& [region, counts] : running) history_.set_running(region, std::move(counts));
}

Result<Termination> AwsProvider::terminate(const TerminateRequest& request,
                                           const Context& context) {
  if (const auto fine = epochs_.check(request.owner); !fine) return fine.error();
  return terminate_instances(request, *api_, recent_, context);
}

Result<Identity> AwsProvider::identify(const IdentifyRequest& request, const Context&) {
  return identify_worker(request, *keys_, settings_.account_id);
}

Result<Notices> AwsProvider::notices(const NoticesRequest&, const Context& context) {
  return interruptions_.collect(context);
}

Result<Diagnosis> AwsProvider::diagnose(const DiagnoseRequest& request, const Context& context) {
  const auto regions = regions_.names(context);
  if (!regions) return diagnosis_without_regions(settings_, regions.error());
  return make_diagnosis(request, settings_, *regions, *api_, context);
}

}  // namespace muster::aws
