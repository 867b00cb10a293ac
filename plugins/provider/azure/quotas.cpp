#include "plugins/provider/azure/quotas.hpp"

#include <algorithm>
#include <charconv>

#include "lib/base/letter_case.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/azure/error_reading.hpp"
#include "plugins/provider/azure/targets.hpp"
#include "plugins/provider/azure/virtual_machines.hpp"

namespace muster::azure {
namespace {

using namespace std::chrono_literals;
using cloud::number_of;
using cloud::table_of;
using cloud::text_of;

constexpr auto sizes_kept_for = 24h;
constexpr auto usages_kept_for = 1min;
constexpr auto quotas_retry_after = 5min;
// Until Azure's own count has a launch.
constexpr auto debits_kept_for = 2min;
constexpr auto hold_of_quota = 600s, hold_without_quota = 3600s, hold_of_restriction = 82'800s;
const char* const all_cores = "cores";
const char* const spot_cores = "lowprioritycores";

std::int64_t whole_number(const std::string& text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void add_texts(const json::object& object, const char* key, std::set<std::string>& texts) {
  const json::value* list = object.if_contains(key);
  if (!list || !list->is_array()) return;
  for (const json::value& text : list->get_array())
    if (text.is_string()) texts.emplace(text.get_string());
}

Size read_size(const json::object& sku) {
  Size size{.family = text_of(sku, "family")};
  cloud::for_each_of(sku, "capabilities", [&](const json::object& capability) {
    if (text_of(capability, "name") == "vCPUs")
      size.processors = whole_number(text_of(capability, "value"));
  });
  cloud::for_each_of(sku, "locationInfo",
                     [&](const json::object& info) { add_texts(info, "zones", size.zones); });
  cloud::for_each_of(sku, "restrictions", [&](const json::object& restriction) {
    if (text_of(restriction, "type") == "Location") size.restricted = true;
    const json::object* info = table_of(restriction, "restrictionInfo");
    if (text_of(restriction, "type") == "Zone" && info)
      add_texts(*info, "zones", size.restricted_zones);
  });
  return size;
}

Error no_room(const Usage& usage, const cloud::Machine& machine, std::int64_t debited,
              const std::string& page) {
  return Error::quota("the quota \"" + usage.title + "\" in " + machine.region +
                      (usage.limit == 0 ? " is 0"
                                        : " is used up: " + std::to_string(usage.used + debited) +
                                              " of " + std::to_string(usage.limit)) +
                      " vCPUs; raise it at " + page)
      .in_region(machine.region)
      .of_instance_type(machine.type_and_market())
      .hold_for(usage.limit == 0 ? hold_without_quota : hold_of_quota)
      .with_code("QuotaExceeded");
}

Error not_offered(const cloud::Machine& machine) {
  Error error =
      Error::capacity("Azure does not offer " + machine.instance_type + " in " + machine.place() +
                      " to this subscription; choose another size or location, or ask "
                      "Azure's support for it")
          .in_region(machine.region)
          .of_instance_type(machine.type_and_market())
          .hold_for(hold_of_restriction)
          .with_code("SkuNotAvailable");
  if (!machine.zone.empty()) error.scope.zone = machine.zone;
  return error;
}

}  // namespace

std::vector<std::string> Quotas::quotas_of(const Size& size, bool spot) {
  if (spot) return {spot_cores};
  return {to_lower(size.family), all_cores};
}

std::string Quotas::quota_page() const {
  return settings_.connection.portal() + "/#view/Microsoft_Azure_Capacity/QuotaMenuBlade";
}

Result<Sizes> Quotas::sizes_in(const std::string& location, const Context& context) const {
  Sizes sizes;
  const auto listed = for_each_listed(
      api_,
      {.target =
           list_target(settings_.subscription_path(), "Microsoft.Compute/skus", version::skus) +
           "&$filter=" + encode_segment("location eq '" + location + "'"),
       .about = in_location(location)},
      [&](const json::object& sku) {
        if (text_of(sku, "resourceType") == "virtualMachines")
          sizes.insert_or_assign(to_lower(text_of(sku, "name")), read_size(sku));
      },
      context);
  if (!listed) return listed.error();
  return sizes;
}

Result<Usages> Quotas::usages_in(const std::string& location, const Context& context) const {
  Usages usages;
  const auto listed = for_each_listed(
      api_,
      {.target =
           list_target(settings_.subscription_path(),
                       "Microsoft.Compute/locations/" + location + "/usages", version::compute),
       .about = in_location(location)},
      [&](const json::object& usage) {
        const json::object* name = table_of(usage, "name");
        if (!name) return;
        const std::string title = text_of(*name, "localizedValue");
        usages[to_lower(text_of(*name, "value"))] = {
            title.empty() ? text_of(*name, "value") : title, number_of(usage, "currentValue"),
            number_of(usage, "limit")};
      },
      context);
  if (!listed) return listed.error();
  return usages;
}

void Quotas::refresh(const std::string& name, Location& location, const Context& context) const {
  const Time now = context.now();
  const auto failed = [&](const char* what, const Error& error) {
    context.log(LogLevel::warning, std::string(what) + " of " + name +
                                       " are not known, so quotas are seen only when a launch "
                                       "fails: " +
                                       error.message);
    return now + quotas_retry_after;
  };
  if (now >= location.sizes_again) {
    auto sizes = sizes_in(name, context);
    location.sizes_again = sizes ? now + sizes_kept_for : failed("sizes", sizes.error());
    if (sizes) location.sizes = std::move(*sizes);
  }
  if (now < location.usages_again) return;
  auto usages = usages_in(name, context);
  location.usages_again = usages ? now + usages_kept_for : failed("usages", usages.error());
  if (!usages) return;
  location.usages = std::move(*usages);
  while (!location.debits.empty() && location.debits.front().at + debits_kept_for <= now)
    location.debits.pop_front();
}

std::int64_t Quotas::debited(const Location& location, const std::string& quota) const {
  std::int64_t sum = 0;
  for (const Debit& debit : location.debits) {
    const auto size = location.sizes.find(debit.size);
    if (size == location.sizes.end()) continue;
    const auto quotas = quotas_of(size->second, debit.spot);
    if (std::ranges::find(quotas, quota) != quotas.end()) sum += size->second.processors;
  }
  return sum;
}

Result<std::optional<std::int64_t>> Quotas::room(const cloud::Machine& machine,
                                                 const Context& context) {
  Location& location = locations_[machine.region];
  refresh(machine.region, location, context);
  const auto found = location.sizes.find(to_lower(machine.instance_type));
  if (found == location.sizes.end()) {
    if (location.sizes.empty()) return std::optional<std::int64_t>();
    return not_offered(machine);
  }
  const Size& size = found->second;
  const std::string zone = zone_number(machine.zone);
  const bool zone_lacks_it =
      !zone.empty() && (size.restricted_zones.contains(zone) || !size.zones.contains(zone));
  if (size.restricted || zone_lacks_it) return not_offered(machine);
  std::optional<std::int64_t> room;
  for (const std::string& quota : quotas_of(size, machine.is_spot())) {
    const auto usage = location.usages.find(quota);
    if (usage == location.usages.end() || size.processors < 1) continue;
    const std::int64_t taken = debited(location, quota);
    const std::int64_t left = (usage->second.limit - usage->second.used - taken) / size.processors;
    if (left < 1) return no_room(usage->second, machine, taken, quota_page());
    room = std::min(room.value_or(left), left);
  }
  return room;
}

void Quotas::debit(const cloud::Machine& machine, Time now) {
  const auto found = locations_.find(machine.region);
  if (found != locations_.end())
    found->second.debits.push_back({to_lower(machine.instance_type), machine.is_spot(), now});
}

Error Quotas::explain(Error error, const cloud::Machine& machine) const {
  if (error.error_class != ErrorClass::quota || !error.scope.instance_type) return error;
  std::string name = machine.is_spot() ? "Total Regional Spot vCPUs" : "vCPUs of the size's family";
  if (const auto location = locations_.find(machine.region); location != locations_.end())
    if (const auto size = location->second.sizes.find(to_lower(machine.instance_type));
        size != location->second.sizes.end())
      if (const auto usage =
              location->second.usages.find(quotas_of(size->second, machine.is_spot()).front());
          usage != location->second.usages.end())
        name = usage->second.title;
  const auto limit = number_after(error.message, "Current Limit");
  error.message = "the quota \"" + name + "\" in " + machine.region + " is used up" +
                  (limit ? ": it is " + std::to_string(*limit) + " vCPUs" : "") + "; raise it at " +
                  quota_page() + ". Azure says: " + error.message;
  return error;
}

}  // namespace muster::azure
