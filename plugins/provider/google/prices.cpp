#include "plugins/provider/google/prices.hpp"

#include <algorithm>
#include <charconv>

#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/google/words.hpp"

namespace muster::google {
namespace {

using cloud::for_each_of;
using cloud::table_of;
using cloud::text_of;
using namespace std::chrono_literals;

constexpr auto catalogue_fresh_for = 12h;
constexpr auto catalogue_retry_after = 10min;

std::string to_lower_word(std::string_view text) {
  std::string made;
  for (const char letter : text) {
    if (letter == ' ') break;
    made += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  return made;
}

// "Spot Preemptible N2D AMD Instance Core running in Americas" → "n2d"
std::string family_in(std::string_view description) {
  for (const std::string_view begin : {"Spot Preemptible ", "Preemptible "})
    if (description.starts_with(begin)) description.remove_prefix(begin.size());
  if (description.starts_with("Compute optimized ")) return "c2";
  for (const char* other :
       {"Custom", "Commitment", "Sole Tenancy", "Reserved", "Overcommit", "Premium", "Extended"})
    if (description.find(other) != description.npos) return {};
  const std::string word = to_lower_word(description);
  return shape_of(word + "-standard-1") ? word : std::string();
}

// The last rate is what counts beyond free amounts.
std::optional<double> price_in(const json::object& sku) {
  std::optional<double> price;
  for_each_of(sku, "pricingInfo", [&](const json::object& info) {
    const json::object* expression = table_of(info, "pricingExpression");
    if (!expression) return;
    for_each_of(*expression, "tieredRates", [&](const json::object& rate) {
      const json::object* unit = table_of(rate, "unitPrice");
      if (!unit) return;
      std::int64_t units = 0;
      const std::string text = text_of(*unit, "units");
      std::from_chars(text.data(), text.data() + text.size(), units);
      price =
          static_cast<double>(units) + static_cast<double>(cloud::number_of(*unit, "nanos")) / 1e9;
    });
  });
  return price;
}

}  // namespace

std::optional<double> Rates::of(const MachineShape& shape) const {
  if (processor <= 0 || gib <= 0 || shape.memory_gib <= 0) return std::nullopt;
  return processor * shape.processors + gib * shape.memory_gib;
}

std::optional<CatalogueRow> read_sku(const json::object& sku) {
  const json::object* category = table_of(sku, "category");
  if (!category || text_of(*category, "resourceFamily") != "Compute") return std::nullopt;
  const std::string usage = text_of(*category, "usageType"),
                    description = text_of(sku, "description");
  if (usage != "OnDemand" && usage != "Preemptible") return std::nullopt;
  const bool is_core = description.find(" Core running in") != std::string::npos,
             is_memory = description.find(" Ram running in") != std::string::npos;
  if (is_core == is_memory) return std::nullopt;
  CatalogueRow row{
      .family = family_in(description), .is_spot = usage == "Preemptible", .is_memory = is_memory};
  const auto price = price_in(sku);
  if (row.family.empty() || !price || *price <= 0) return std::nullopt;
  row.price = *price;
  return row;
}

void Catalogue::take(const json::object& sku) {
  const auto row = read_sku(sku);
  const json::value* regions = sku.if_contains("serviceRegions");
  if (!row || !regions || !regions->is_array()) return;
  for (const json::value& region : regions->get_array()) {
    if (!region.is_string()) continue;
    Rates& rates = reading_[{std::string(region.get_string()), row->family, row->is_spot}];
    (row->is_memory ? rates.gib : rates.processor) = row->price;
  }
}

void Catalogue::advance(const Context& context) {
  if (context.now() < ask_again_) return;
  Call call{.method = "cloudbilling.skus.list",
            .query = {{"pageSize", "5000"},
                      {"fields",
                       "nextPageToken,skus(description,category,serviceRegions,"
                       "pricingInfo/pricingExpression/tieredRates)"}}};
  if (!page_.empty()) call.query["pageToken"] = page_;
  const auto answer = api_.call(call, context);
  if (!answer) {
    context.log(LogLevel::warning, "Google's price list is " +
                                       std::string(known_.empty() ? "not known" : "an old one") +
                                       ": " + answer.error().message);
    ask_again_ = context.now() + catalogue_retry_after;
    return;
  }
  for_each_of(*answer, "skus", [&](const json::object& sku) { take(sku); });
  const std::string next = text_of(*answer, "nextPageToken");
  const bool is_last = next.empty() || next == page_;
  page_ = is_last ? std::string() : next;
  if (!is_last) return;
  known_ = std::exchange(reading_, {});
  ask_again_ = context.now() + catalogue_fresh_for;
}

std::optional<Rates> Catalogue::rates(const std::string& region, const std::string& family,
                                      bool is_spot) const {
  const auto found = known_.find({region, family, is_spot});
  if (found == known_.end()) return std::nullopt;
  return found->second;
}

Prices::Prices(const Settings& settings, Api& api) : settings_(settings), catalogue_(api) {
  const json::value document = documents.read("list_prices");
  spot_share_ = document.as_object().at("spotShare").to_number<double>();
  for (const auto& [family, rates] : document.as_object().at("families").as_object())
    list_.emplace(family, Rates{rates.as_object().at("processor").to_number<double>(),
                                rates.as_object().at("gib").to_number<double>()});
}

void Prices::advance(const Context& context) {
  if (settings_.catalogue) catalogue_.advance(context);
}

Result<cloud::Price> Prices::of(const cloud::Machine& machine) const {
  if (const auto price = cloud::price_in_table(settings_.price_table, machine))
    return cloud::Price{*price, "priceTable"};
  // What accelerators cost is in no list of processors.
  const bool is_plain = !machine.launch->contains("guestAccelerators");
  const auto shape = shape_of(machine.instance_type);
  if (is_plain && shape) {
    if (const auto rates = catalogue_.rates(machine.region, shape->family, machine.is_spot()))
      if (const auto price = rates->of(*shape))
        return cloud::Price{*price, "Google's billing catalogue"};
    if (const auto rates = list_.find(shape->family); rates != list_.end())
      if (const auto price = rates->second.of(*shape))
        return cloud::Price{machine.is_spot() ? *price * spot_share_ : *price,
                            machine.is_spot() ? "estimated as 40 % of the list price in us-central1"
                                              : "estimated from the list price in us-central1"};
  }
  const std::string key = machine.is_spot() ? std::string(words.spot) + "/" : std::string();
  return Error::config("there is no price of " + machine.type_and_market() + " in " +
                       machine.region + "; add \"" + machine.region + "/" + key +
                       machine.instance_type + "\" to priceTable in the provider's configuration")
      .hold_for(5min);
}

}  // namespace muster::google
