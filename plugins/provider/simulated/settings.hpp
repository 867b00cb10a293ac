// What a simulated cloud is made of, as its instance configuration says it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <muster/error.hpp>
#include <muster/fields.hpp>
#include <muster/json.hpp>

namespace muster::simulated {

struct Region {
  std::string name;
  std::vector<std::string> zones;

  static constexpr auto fields(auto visit) {
    return visit(required("name", &Region::name), required("zones", &Region::zones));
  }
};

struct InstanceType {
  std::string name;
  std::int64_t capacity = 1;     // tasks at once, unless a worker configuration says otherwise
  double price_per_hour = 0.1;   // around which the price moves
  std::int64_t per_zone = 1000;  // machines of this type that a zone has

  static constexpr auto fields(auto visit) {
    return visit(required("name", &InstanceType::name),
                 optional("capacity", &InstanceType::capacity),
                 optional("pricePerHour", &InstanceType::price_per_hour),
                 optional("perZone", &InstanceType::per_zone));
  }
};

struct PriceMoves {
  double volatility = 0.2;       // 0.2: between 80 % and 120 % of the base
  double period_seconds = 3600;  // a price turns about this often

  static constexpr auto fields(auto visit) {
    return visit(optional("volatility", &PriceMoves::volatility),
                 optional("periodSeconds", &PriceMoves::period_seconds));
  }
};

struct QuotaSetting {
  std::optional<std::string> region = {};  // absent: all regions together
  std::optional<std::string> instance_type = {};
  std::int64_t instances = 0;

  static constexpr auto fields(auto visit) {
    return visit(optional("region", &QuotaSetting::region),
                 optional("instanceType", &QuotaSetting::instance_type),
                 required("instances", &QuotaSetting::instances));
  }
};

struct Boot {
  double min_seconds = 20;
  double max_seconds = 60;
  double never = 0;  // probability that a machine stays pending for ever

  static constexpr auto fields(auto visit) {
    return visit(optional("minSeconds", &Boot::min_seconds),
                 optional("maxSeconds", &Boot::max_seconds), optional("never", &Boot::never));
  }
};

// Which calls fail, and how. For `allocate` each launch counts as a call of its own.
struct FailureRule {
  std::string method = "allocate";
  std::string error_class = "capacity";
  std::string message = {};
  std::string code = {};
  std::optional<std::string> region = {};  // only there, and the error's scope
  std::optional<std::string> zone = {};
  std::optional<std::string> instance_type = {};
  double probability = 1;
  std::int64_t after = 0;                   // the first so many calls are spared
  std::optional<std::int64_t> times = {};   // so many failures at most
  std::optional<double> from_seconds = {};  // since the cloud's first call
  std::optional<double> until_seconds = {};
  std::optional<std::int64_t> hold_seconds = {};
  bool after_effect = false;  // the launch is made all the same: only its answer is lost

  static constexpr auto fields(auto visit) {
    return visit(
        optional("method", &FailureRule::method), optional("class", &FailureRule::error_class),
        optional("message", &FailureRule::message), optional("code", &FailureRule::code),
        optional("region", &FailureRule::region), optional("zone", &FailureRule::zone),
        optional("instanceType", &FailureRule::instance_type),
        optional("probability", &FailureRule::probability), optional("after", &FailureRule::after),
        optional("times", &FailureRule::times), optional("fromSeconds", &FailureRule::from_seconds),
        optional("untilSeconds", &FailureRule::until_seconds),
        optional("holdSeconds", &FailureRule::hold_seconds),
        optional("afterEffect", &FailureRule::after_effect));
  }
};

struct SlowRule {
  std::string method;
  double seconds = 0;
  double probability = 1;

  static constexpr auto fields(auto visit) {
    return visit(required("method", &SlowRule::method), required("seconds", &SlowRule::seconds),
                 optional("probability", &SlowRule::probability));
  }
};

struct Interruptions {
  double per_hour = 0;  // of each machine
  double notice_seconds = 120;
  std::vector<std::int64_t> launches = {};  // the 3rd and the 7th launch of the cloud, say,
  double after_seconds = 300;               // are taken away so long after they were made

  static constexpr auto fields(auto visit) {
    return visit(optional("perHour", &Interruptions::per_hour),
                 optional("noticeSeconds", &Interruptions::notice_seconds),
                 optional("launches", &Interruptions::launches),
                 optional("afterSeconds", &Interruptions::after_seconds));
  }
};

struct Settings {
  std::uint64_t seed = 1;
  std::optional<std::string> preset = {};  // whose behaviour the cloud has besides: "aws"
  // A cloud that nobody described is a small one with these.
  std::vector<Region> regions = {{"eu-1", {"eu-1a", "eu-1b"}}, {"us-1", {"us-1a"}}};
  std::vector<InstanceType> instance_types = {{"small", 1, 0.05}, {"large", 4, 0.18}};
  PriceMoves prices = {};
  std::vector<QuotaSetting> quotas = {};
  Boot boot = {};
  double shutdown_seconds = 10;
  std::vector<FailureRule> failures = {};
  std::vector<SlowRule> slow = {};
  Interruptions interruptions = {};
  std::string secret = {};      // with which workers prove who they are; empty: nobody can
  std::string state_file = {};  // absolute; empty: the cloud ends with its process

  static constexpr auto fields(auto visit) {
    return visit(
        optional("seed", &Settings::seed), optional("preset", &Settings::preset),
        optional("regions", &Settings::regions),
        optional("instanceTypes", &Settings::instance_types), optional("prices", &Settings::prices),
        optional("quotas", &Settings::quotas), optional("boot", &Settings::boot),
        optional("shutdownSeconds", &Settings::shutdown_seconds),
        optional("failures", &Settings::failures), optional("slow", &Settings::slow),
        optional("interruptions", &Settings::interruptions), optional("secret", &Settings::secret),
        optional("stateFile", &Settings::state_file));
  }

  const InstanceType* find_type(std::string_view name) const;
  bool has_zone(std::string_view region, std::string_view zone) const;
};

// Adds what the preset says: its failures come after those that are there, and what `given` has
// itself stays as it is. `invalid` for a preset that is not known.
Result<void> apply_preset(Settings& settings, const json::object& given);

// Reads and checks; `invalid` with the path of the first mistake.
Result<Settings> read_settings(const json::object& config);

json::object config_schema();
json::object section_schema();
json::object example_config();

}  // namespace muster::simulated
