// How a launch configuration fared in the last hour.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <muster/context.hpp>
#include <muster/error.hpp>
#include <muster/json.hpp>

namespace muster::bidding {

struct HealthCounts {
  std::int64_t tried = 0;       // launches that the provider answered
  std::int64_t failed = 0;      // of them, at once or later: refused, never registered, died early
  std::int64_t registered = 0;  // workers that registered
  std::int64_t claimed = 0;     // workers that took their first work
  std::array<std::int64_t, 11> errors_by_class = {};

  std::int64_t errors() const;
  HealthCounts& operator+=(const HealthCounts& other);
  friend bool operator==(const HealthCounts&, const HealthCounts&) = default;
};

inline constexpr auto health_window = std::chrono::hours(1);

// Counts by the minute, kept for an hour. Minutes in which nothing happened take no room.
class Health {
 public:
  void launched(Time now);
  void failed(Time now, ErrorClass error_class);
  // Of a launch that was counted as tried before: it failed later.
  void failed_later(Time now, ErrorClass error_class);
  void registered(Time now);
  void claimed(Time now);

  HealthCounts last_hour(Time now) const;

  // When something of it grows too old to count; Time::max() if nothing is left.
  Time next_change() const;

  json::array to_json() const;
  // Ignores what it cannot read: health is worth less than a start.
  static Health from_json(const json::array& minutes);

 private:
  struct Minute {
    std::int64_t minute;  // since 1970
    HealthCounts counts;
  };
  HealthCounts& at(Time now);

  std::vector<Minute> minutes_;  // ascending
};

}  // namespace muster::bidding
