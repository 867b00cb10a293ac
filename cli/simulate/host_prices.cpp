#include "cli/simulate/host_prices.hpp"

#include "cli/connection.hpp"
#include "cli/rules/target.hpp"

namespace muster::cli {
namespace {

json::object asked(Result<json::value> answer, const std::string& url, bool as_json) {
  if (!answer)
    fail(exit_failed, "The host " + url + " does not say prices: " + answer.error().message,
         as_json);
  return answer->is_object() ? answer->get_object() : json::object();
}

double number_or_zero(const json::object& document, const char* key) {
  const json::value* value = document.if_contains(key);
  return value && value->is_number() ? value->to_number<double>() : 0;
}

}  // namespace

Assumptions prices_of_host(const HostOptions& host, bool as_json) {
  Assumptions prices;
  HostClient client = connect(host);
  const std::string base = api_path + "pools";
  for (const json::value& item : list_of(asked(client.get(base), host.url, as_json), "pools")) {
    if (!item.is_object()) continue;
    const std::string pool = base + "/" + path_segment(text_of(item.get_object(), "workerPoolId"));
    std::map<std::string, std::string> types;  // by launch configuration
    for (const json::value& each :
         list_of(asked(client.get(pool), host.url, as_json), "launchConfigs"))
      if (each.is_object())
        types[text_of(each.get_object(), "launchConfigId")] =
            text_of(each.get_object(), "instanceType");
    // The newest first.
    for (const json::value& each :
         list_of(asked(client.get(pool + "/workers?limit=100"), host.url, as_json), "workers")) {
      if (!each.is_object()) continue;
      const json::object& worker = each.get_object();
      const std::string& type = types[text_of(worker, "launchConfigId")];
      const double price = number_or_zero(worker, "pricePerHour");
      if (price <= 0 || type.empty()) continue;
      auto& known = prices.providers[text_of(worker, "providerId")].instance_types[type];
      if (known.price_per_hour) continue;
      known.price_per_hour = price;
      known.price_source = host.url;
    }
  }
  return prices;
}

}  // namespace muster::cli
