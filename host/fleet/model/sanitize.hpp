// What comes from outside, cut to what makes sense before a decision uses it: texts of a megabyte,
// numbers that overflow sums, machines without a name.
#pragma once

#include <algorithm>

#include "host/fleet/model/messages.hpp"

namespace muster::fleet {

// No pool, limit or machine is larger; sums of many of them still fit.
inline constexpr std::int64_t largest_capacity = 1'000'000'000;
// The most for an hour of one unit of capacity, in whatever money.
inline constexpr double highest_price = 1e9;

// A worker's capacity is a small number, whatever the document says.
inline std::int64_t instance_capacity(const LaunchConfigSpec& spec) {
  return std::clamp<std::int64_t>(spec.launch_config.capacity_per_instance, 1, largest_capacity);
}

// At most about 2000 bytes of UTF-8, cut between characters.
std::string shortened(std::string text);
// From zero on.
std::int64_t clamp_capacity(std::int64_t capacity);
// In whole units, of what is a sum of parts.
std::int64_t whole_capacity(double capacity);
// From 1970 to 9999.
Time clamp_time(Time time);
// Its names are there, not too long and without control characters.
bool has_valid_names(const Instance& instance);
bool has_valid_names(const AnnouncedMachine& machine);

void sanitize(Answer& answer);

}  // namespace muster::fleet
