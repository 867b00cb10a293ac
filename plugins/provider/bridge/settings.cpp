#include "plugins/provider/bridge/settings.hpp"

namespace muster::bridge {

ProviderDescription description() {
  json::object properties = http_service::endpoint_properties(default_timeout_seconds);
  properties["url"].as_object()["examples"] = json::array{"https://fleet.example/muster"};
  return {
      .description = "Forwards every call to an HTTP service, which may be in any language",
      .config_schema = {{"type", "object"},
                        {"additionalProperties", false},
                        {"required", json::array{"url"}},
                        {"properties", std::move(properties)}},
      .section = section,
      .section_schema = {{"type", "object"},
                         {"description",
                          "Whatever the service behind the bridge understands; it is checked "
                          "there, by `expand`"}},
      .facts = {{"availabilityZone", "A part of the region, if the service has such"}},
      .capabilities = {capability::notices},
      // By where a service puts a field, because nobody else can know what it means.
      .field_classes = {{},
                        {std::string(section) + ".dynamic"},
                        {std::string(section) + ".behavioural"}},
      .example_config = {{"url", example_url}},
      .example_section = {{"instanceTypes", json::array{"small", "large"}}, {"image", "worker-1"}}};
}

Result<Settings> read_settings(const json::object& config) {
  Settings settings;
  const json::value* url = config.if_contains("url");
  settings.example = url && url->is_string() && url->get_string() == example_url;
  json::object checked = config;
  if (settings.example) checked["url"] = "http://localhost";  // nobody will ask there
  auto endpoint = http_service::read_endpoint(checked, default_timeout_seconds);
  if (!endpoint) return endpoint.error();
  settings.endpoint = std::move(*endpoint);
  if (settings.example) settings.endpoint.url = example_url;
  return settings;
}

}  // namespace muster::bridge
