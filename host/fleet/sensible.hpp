// What comes from outside, cut to what makes sense before anybody decides by it: texts of a
// megabyte, numbers that overflow sums, machines without a name.
#pragma once

#include "host/fleet/messages.hpp"

namespace muster::fleet {

// No pool, limit or machine is larger; sums of many of them still fit.
inline constexpr std::int64_t largest_capacity = 1'000'000'000;
// The most for an hour of one unit of capacity, in whatever money.
inline constexpr double highest_price = 1e9;

// At most about 2000 bytes, cut between characters.
std::string shortened(std::string text);
// From zero on.
std::int64_t sensible_capacity(std::int64_t capacity);
// From 1970 to 9999.
Time sensible_time(Time time);
// Its names are there, of a sane length and without control characters.
bool sensible(const Instance& instance);
bool sensible(const AnnouncedMachine& machine);

void make_sensible(Answer& answer);

}  // namespace muster::fleet
