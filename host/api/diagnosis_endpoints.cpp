// What a provider lacks for its launches, tried out by the provider itself.
#include "host/api/handlers.hpp"

namespace muster::api {
namespace {

constexpr std::size_t most_launch_configs = 1000;  // that one diagnosis looks at

DiagnoseRequest diagnose_request(const fleet::Fleet& fleet, const ProviderId& id) {
  DiagnoseRequest request{.owner = {fleet.host_id(), id, fleet.epoch()}};
  for (const fleet::LaunchConfigState& launch_config : fleet.launch_configs())
    if (!launch_config.removed() && launch_config.status != fleet::LaunchConfigStatus::archived &&
        launch_config.spec->provider_id == id &&
        request.launch_configs.size() < most_launch_configs)
      request.launch_configs.push_back(launch_config.spec->launch_config);
  return request;
}

Answer diagnose_provider(const Call& call) {
  const ProviderId id(call.parameter("providerId"));
  DiagnoseRequest request;
  call.host().fleet->read(
      [&](const fleet::Fleet& fleet, fleet::Now) { request = diagnose_request(fleet, id); });
  auto diagnosis = services_of(call).diagnose(id, request);
  if (!diagnosis && diagnosis.error().error_class == ErrorClass::unsupported)
    return input_error("provider " + id.str() +
                       " offers no diagnosis; `muster provider show` says what is known of it");
  if (!diagnosis) return to_failure(diagnosis.error());
  json::object document = codec::to_value(*diagnosis).as_object();
  document["providerId"] = id.str();
  return json_answer(document);
}

}  // namespace

std::vector<Endpoint> diagnosis_endpoints() {
  return {{.name = "diagnoseProvider",
           .method = "GET",
           .path = base + "/providers/{providerId}/diagnosis",
           .scopes = all_of({"muster:diagnose-provider:<providerId>"}),
           .handler = OnWorkerThreadWithFleet{diagnose_provider},
           .output = "Diagnosis",
           .errors = {bad_input, missing, unavailable},
           .category = "providers",
           .title = "What a provider lacks for its launches: it tries out credentials, permissions "
                    "and what launch configurations name, without any effect"}};
}

}  // namespace muster::api
