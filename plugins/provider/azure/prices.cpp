#include "plugins/provider/azure/prices.hpp"

#include "lib/base/letter_case.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/azure/targets.hpp"

namespace muster::azure {
namespace {

using namespace std::chrono_literals;
using cloud::table_of;
using cloud::text_of;

constexpr auto prices_fresh_for = 6h;
constexpr auto still_useful = 168h;
constexpr auto prices_retry_after = 1min;
constexpr std::size_t sizes_of_question = 15;  // a URL has its bounds

std::string filter_for(const std::string& location, const std::vector<std::string>& sizes) {
  std::string any;
  for (const std::string& size : sizes)
    any += (any.empty() ? "" : " or ") + ("armSkuName eq '" + size + "'");
  return "serviceName eq 'Virtual Machines' and priceType eq 'Consumption' and armRegionName eq '" +
         location + "' and (" + any + ")";
}

}  // namespace

bool pays_for_windows(const cloud::Machine& machine) {
  const json::object* properties = table_of(*machine.launch, "properties");
  if (properties && text_of(*properties, "licenseType").starts_with("Windows")) return false;
  if (const std::string said = text_of(*machine.section, "osType"); !said.empty())
    return said == "Windows";
  const json::object* storage = properties ? table_of(*properties, "storageProfile") : nullptr;
  const json::object* disk = storage ? table_of(*storage, "osDisk") : nullptr;
  if (disk && text_of(*disk, "osType") == "Windows") return true;
  const json::object* system = properties ? table_of(*properties, "osProfile") : nullptr;
  return system && system->contains("windowsConfiguration");
}

void Prices::note(const cloud::Machine& machine) {
  if (settings_.retail_prices) books_[machine.region].wanted.insert(machine.instance_type);
}

Result<cloud::Price> Prices::of(const cloud::Machine& machine, const Context& context) {
  if (const auto price = cloud::price_in_table(settings_.price_table, machine))
    return cloud::Price{*price, "priceTable"};
  const std::string advice = "add \"" + machine.region + "/" + machine.market + "/" +
                             machine.instance_type +
                             "\" to priceTable in the provider's configuration";
  if (!settings_.retail_prices)
    return Error::config("there is no price of " + machine.type_and_market() + " in " +
                         machine.region + "; " + advice + ", or set priceSource to retail")
        .hold_for(5min);
  Book& book = books_[machine.region];
  book.wanted.insert(machine.instance_type);
  const bool is_new = !book.asked.contains(machine.instance_type);
  const auto age = context.now() - book.asked_at;
  if (book.error ? age >= prices_retry_after : is_new || age >= prices_fresh_for)
    refresh(machine.region, book, context);
  const auto found = book.prices.find(
      {to_lower(machine.instance_type), machine.is_spot(), pays_for_windows(machine)});
  if (found != book.prices.end() && context.now() - book.good_at < still_useful)
    return cloud::Price{found->second, "Azure's retail price"};
  if (book.error) {
    Error error = *book.error;
    error.message += "; prices can be written into priceTable";
    return error;
  }
  return Error::capacity("Azure has no retail price of " + machine.type_and_market() + " in " +
                         machine.region + ", so it does not sell it there; if it does, " + advice)
      .hold_for(300s);
}

void Prices::refresh(const std::string& location, Book& book, const Context& context) {
  std::map<Key, double> prices;
  const std::vector<std::string> sizes(book.wanted.begin(), book.wanted.end());
  book.asked_at = context.now();
  for (std::size_t from = 0; from < sizes.size(); from += sizes_of_question) {
    const auto begin = sizes.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end =
        begin + static_cast<std::ptrdiff_t>(std::min(sizes_of_question, sizes.size() - from));
    const auto listed = for_each_listed(
        api_,
        {.target = std::string("/api/retail/prices?api-version=") + version::prices +
                   "&$filter=" + encode_segment(filter_for(location, {begin, end})),
         .about = in_location(location),
         .service = Service::retail_prices},
        [&](const json::object& item) {
          const json::value* price = item.if_contains("retailPrice");
          const std::string sku = text_of(item, "skuName");
          if (!price || !price->is_number() || text_of(item, "unitOfMeasure") != "1 Hour" ||
              sku.ends_with("Low Priority") || text_of(item, "type") != "Consumption")
            return;
          const bool windows = text_of(item, "productName").find("Windows") != std::string::npos;
          prices[{to_lower(text_of(item, "armSkuName")), sku.ends_with("Spot"), windows}] =
              price->to_number<double>();
        },
        context);
    if (!listed) {
      book.error = listed.error();
      return;
    }
  }
  book.error.reset();
  book.good_at = context.now();
  book.asked = book.wanted;
  book.prices = std::move(prices);
}

}  // namespace muster::azure
