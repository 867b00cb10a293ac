#include "plugins/provider/aws/prices.hpp"

#include <charconv>
#include <cmath>

#include <muster/codec.hpp>

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/pages.hpp"

namespace muster::aws {
namespace {

using namespace std::chrono_literals;
constexpr auto looked_back = 30min;
constexpr auto prices_fresh_for = 5min;
constexpr auto still_useful = 1h;
constexpr auto prices_retry_after = 30s;

// How much larger than "large" a size is; nothing for one that is not known.
std::optional<double> factor_of(std::string_view size) {
  static constexpr std::pair<std::string_view, double> small[] = {
      {"nano", 0.0625}, {"micro", 0.125}, {"small", 0.25},
      {"medium", 0.5},  {"large", 1},     {"xlarge", 2}};
  for (const auto& [name, factor] : small)
    if (size == name) return factor;
  // "4xlarge", "metal-24xl"
  if (size.starts_with("metal-")) size.remove_prefix(6);
  int number = 0;
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), number);
  const std::string_view unit = size.substr(static_cast<std::size_t>(end - size.data()));
  if (error != std::errc() || number < 1 || (unit != "xlarge" && unit != "xl")) return std::nullopt;
  return 2.0 * number;
}

// The highest price that counted at any time since `start`.
class Highest {
 public:
  explicit Highest(Time start) : start_(start) {}

  void add(Time at, double price) {
    if (at >= start_)
      since_ = std::max(since_, price);
    else if (at >= before_at_)
      before_at_ = at, before_ = price;  // it counted at the start
  }
  double value() const { return std::max(since_, before_); }

 private:
  Time start_, before_at_{};
  double since_ = 0, before_ = 0;
};

std::optional<double> number_in(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number))
    return std::nullopt;
  return number;
}

}  // namespace

ListPrices::ListPrices() {
  const json::value document = documents.read("list_prices");
  const auto read = [&](const char* name, std::map<std::string, double>& into) {
    for (const auto& [key, number] : document.as_object().at(name).as_object())
      into.emplace(key, number.to_number<double>());
  };
  read("inDollars", types_);
  read("largeInDollars", large_);
  read("metalInLarges", metal_);
}

std::optional<double> ListPrices::of(const std::string& instance_type) const {
  if (const auto found = types_.find(instance_type); found != types_.end()) return found->second;
  const std::size_t dot = instance_type.find('.');
  const auto family = large_.find(instance_type.substr(0, dot));
  if (dot == std::string::npos || family == large_.end()) return std::nullopt;
  const std::string_view size = std::string_view(instance_type).substr(dot + 1);
  if (size == "metal") {
    const auto larges = metal_.find(family->first);
    if (larges == metal_.end()) return std::nullopt;
    return family->second * larges->second;
  }
  const auto factor = factor_of(size);
  if (!factor) return std::nullopt;
  return family->second * *factor;
}

void Prices::note(const std::string& region, const std::string& product, const std::string& type) {
  books_[{region, product}].wanted.insert(type);
}

Result<Price> Prices::of(const Machine& machine, const Context& context) {
  if (!machine.is_spot()) return on_demand_price(machine);
  if (const auto price = price_in_table(settings_.price_table, machine))
    return Price{*price, "priceTable"};
  return spot_price(machine, context);
}

Result<Price> Prices::on_demand_price(const Machine& machine) const {
  if (const auto price = price_in_table(settings_.price_table, machine))
    return Price{*price, "priceTable"};
  if (const auto price = list_prices_.of(machine.instance_type))
    return Price{*price, "estimated from the list price in us-east-1"};
  return Error::config("there is no on-demand price of " + machine.instance_type + " in " +
                       machine.region + "; add \"" + machine.instance_type +
                       "\" to priceTable in the provider's configuration")
      .hold_for(prices_fresh_for);
}

Result<Price> Prices::spot_price(const Machine& machine, const Context& context) {
  const std::string product = product_of(machine);
  if (!settings_.spot_history)
    return Error::config("there is no spot price of " + machine.instance_type + " in " +
                         machine.zone + "; add \"" + machine.region + "/spot/" +
                         machine.instance_type +
                         "\" to priceTable in the provider's configuration, or set priceSource to "
                         "spotHistory")
        .hold_for(prices_fresh_for);
  const Place place{machine.region, product};
  Book& book = books_[place];
  book.wanted.insert(machine.instance_type);
  const bool is_new = !book.asked.contains(machine.instance_type);
  const auto age = context.now() - book.asked_at;
  if (book.error ? age >= prices_retry_after : is_new || age >= prices_fresh_for)
    refresh(place, book, context);
  const auto found = book.highest.find({machine.zone, machine.instance_type});
  const bool useful = context.now() - book.good_at < still_useful;
  if (found != book.highest.end() && useful)
    return Price{found->second, "the highest spot price of the last 30 minutes"};
  if (book.error) return *book.error;
  return Error::capacity("AWS has no spot price of " + machine.instance_type + " in " +
                         machine.zone + " for " + product + ", so it does not sell it there")
      .hold_for(prices_fresh_for);
}

void Prices::refresh(const Place& place, Book& book, const Context& context) {
  const Time start = context.now() - looked_back;
  json::array types;
  for (const std::string& type : book.wanted) types.emplace_back(type);
  std::map<std::pair<std::string, std::string>, Highest> seen;
  const auto done = cloud::for_each_page(
      {{"StartTime", format_time(start)},
       {"EndTime", format_time(context.now())},
       {"InstanceTypes", std::move(types)},
       {"ProductDescriptions", json::array{place.second}},
       {"MaxResults", 1000}},
      [&](const json::object& parameters) {
        return api_.call({.service = "ec2",
                          .region = place.first,
                          .action = "DescribeSpotPriceHistory",
                          .parameters = parameters},
                         context);
      },
      [&](const json::object& answer) {
        for_each_of(answer, "SpotPriceHistory", [&](const json::object& entry) {
          const auto price = number_in(text_of(entry, "SpotPrice"));
          const auto at = parse_time(text_of(entry, "Timestamp"));
          if (price && at)
            seen.try_emplace({text_of(entry, "AvailabilityZone"), text_of(entry, "InstanceType")},
                             start)
                .first->second.add(*at, *price);
        });
        return Result<void>();
      },
      context);
  book.asked_at = context.now();
  if (!done) {
    book.error = done.error();
    return;
  }
  book.error.reset();
  book.good_at = context.now();
  book.asked = book.wanted;
  book.highest.clear();
  for (const auto& [key, highest] : seen) book.highest.emplace(key, highest.value());
}

}  // namespace muster::aws
