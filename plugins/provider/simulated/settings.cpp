#include "plugins/provider/simulated/settings.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <muster/codec.hpp>
#include <muster/nearest.hpp>

namespace muster::simulated {
namespace {

constexpr std::array<std::string_view, 7> methods{"placements", "bid",      "allocate", "list",
                                                  "terminate",  "identify", "notices"};

// Collects the first mistake, with its path.
class Checker {
 public:
  void that(bool good, const std::string& path, const std::string& mistake) {
    if (!good && mistake_.empty()) mistake_ = path + ": " + mistake;
  }
  void probability(double number, const std::string& path) {
    that(number >= 0 && number <= 1, path, "is not a probability between 0 and 1");
  }
  void not_negative(double number, const std::string& path) {
    that(number >= 0 && number <= 1e12, path, "is not between 0 and 1e12");
  }
  void method(const std::string& name, const std::string& path) {
    const bool known = std::find(methods.begin(), methods.end(), name) != methods.end();
    if (known) return;
    const auto near = nearest(name, {methods.begin(), methods.end()});
    that(false, path,
         "\"" + name + "\" is not a method that can be simulated" +
             (near ? "; did you mean \"" + *near + "\"?" : ""));
  }
  const std::string& mistake() const { return mistake_; }

 private:
  std::string mistake_;
};

std::string at(const std::string& list, std::size_t index) {
  return list + "[" + std::to_string(index) + "]";
}

void check_places(Checker& check, const Settings& settings) {
  check.that(!settings.regions.empty(), "regions", "a cloud needs at least one region");
  std::set<std::string> regions, zones, types;
  for (std::size_t i = 0; i < settings.regions.size(); ++i) {
    const Region& region = settings.regions[i];
    check.that(!region.name.empty(), at("regions", i) + ".name", "is empty");
    check.that(regions.insert(region.name).second, at("regions", i) + ".name",
               "\"" + region.name + "\" occurs twice");
    check.that(!region.zones.empty(), at("regions", i) + ".zones", "a region needs a zone");
    for (std::size_t j = 0; j < region.zones.size(); ++j) {
      check.that(!region.zones[j].empty(), at(at("regions", i) + ".zones", j), "is empty");
      check.that(zones.insert(region.zones[j]).second, at(at("regions", i) + ".zones", j),
                 "\"" + region.zones[j] + "\" occurs twice");
    }
  }
  check.that(!settings.instance_types.empty(), "instanceTypes", "a cloud needs at least one type");
  for (std::size_t i = 0; i < settings.instance_types.size(); ++i) {
    const InstanceType& type = settings.instance_types[i];
    const std::string path = at("instanceTypes", i);
    check.that(!type.name.empty(), path + ".name", "is empty");
    check.that(types.insert(type.name).second, path + ".name",
               "\"" + type.name + "\" occurs twice");
    check.that(type.capacity >= 1 && type.capacity <= 1'000'000, path + ".capacity",
               "is not between 1 and 1000000");
    check.not_negative(type.price_per_hour, path + ".pricePerHour");
    check.not_negative(static_cast<double>(type.per_zone), path + ".perZone");
  }
}

void check_trouble(Checker& check, const Settings& settings) {
  for (std::size_t i = 0; i < settings.failures.size(); ++i) {
    const FailureRule& rule = settings.failures[i];
    const std::string path = at("failures", i);
    check.method(rule.method, path + ".method");
    check.that(error_class_from(rule.error_class).has_value(), path + ".class",
               "\"" + rule.error_class + "\" is not a class of errors");
    check.probability(rule.probability, path + ".probability");
    check.not_negative(static_cast<double>(rule.after), path + ".after");
    check.that(!rule.times || *rule.times >= 0, path + ".times", "is negative");
    check.that(
        !rule.hold_seconds || (*rule.hold_seconds >= 0 && *rule.hold_seconds < 1'000'000'000),
        path + ".holdSeconds", "is not between 0 and 1000000000");
    check.that(!rule.after_effect || rule.method == "allocate", path + ".afterEffect",
               "only launches can happen although their answer is lost: the method is allocate");
  }
  for (std::size_t i = 0; i < settings.slow.size(); ++i) {
    const SlowRule& rule = settings.slow[i];
    check.method(rule.method, at("slow", i) + ".method");
    check.not_negative(rule.seconds, at("slow", i) + ".seconds");
    check.probability(rule.probability, at("slow", i) + ".probability");
  }
  check.not_negative(settings.interruptions.per_hour, "interruptions.perHour");
  check.not_negative(settings.interruptions.notice_seconds, "interruptions.noticeSeconds");
  check.not_negative(settings.interruptions.after_seconds, "interruptions.afterSeconds");
}

std::string first_mistake(const Settings& settings) {
  Checker check;
  check_places(check, settings);
  check_trouble(check, settings);
  for (std::size_t i = 0; i < settings.quotas.size(); ++i)
    check.not_negative(static_cast<double>(settings.quotas[i].instances),
                       at("quotas", i) + ".instances");
  check.that(settings.prices.volatility >= 0 && settings.prices.volatility <= 1,
             "prices.volatility", "is not between 0 and 1");
  check.that(settings.prices.period_seconds >= 1, "prices.periodSeconds", "is below 1");
  check.not_negative(settings.boot.min_seconds, "boot.minSeconds");
  check.not_negative(settings.boot.max_seconds, "boot.maxSeconds");
  check.that(settings.boot.min_seconds <= settings.boot.max_seconds, "boot.minSeconds",
             "is above maxSeconds");
  check.probability(settings.boot.never, "boot.never");
  check.not_negative(settings.shutdown_seconds, "shutdownSeconds");
  check.that(settings.state_file.empty() || settings.state_file.front() == '/', "stateFile",
             "\"" + settings.state_file + "\" is not an absolute path");
  return check.mistake();
}

}  // namespace

const InstanceType* Settings::find_type(std::string_view name) const {
  for (const InstanceType& type : instance_types)
    if (type.name == name) return &type;
  return nullptr;
}

bool Settings::has_zone(std::string_view region, std::string_view zone) const {
  for (const Region& known : regions)
    if (known.name == region)
      return std::find(known.zones.begin(), known.zones.end(), zone) != known.zones.end();
  return false;
}

Result<Settings> read_settings(const json::object& config) {
  auto settings = from_value<Settings>(json::value(config));
  if (!settings) return settings.error();
  if (const std::string mistake = first_mistake(*settings); !mistake.empty())
    return Error::invalid(mistake);
  if (const auto applied = apply_preset(*settings, config); !applied) return applied.error();
  return settings;
}

}  // namespace muster::simulated
