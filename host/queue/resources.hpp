// What a worker has and what a request takes of it: named integers. "active-task" is the one that
// every worker has and every request takes.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/error.hpp>

namespace muster::queue {

inline constexpr std::string_view active_task_name = "active-task";

// Sums of so many leases as a worker can have stay far below what an integer holds.
inline constexpr std::int64_t largest_amount = 1'000'000'000'000;
inline constexpr std::size_t most_resources = 16;
inline constexpr std::size_t longest_name = 128;
inline constexpr std::size_t most_tags = 16;

struct Resources {
  std::int64_t active_task = 1;
  std::vector<std::pair<std::string, std::int64_t>> others = {};  // ordered by name, without zeros

  // Every amount is from 1 to largest_amount; without "active-task" it is `active_task`.
  static Result<Resources> from(const std::map<std::string, std::int64_t>& named,
                                std::int64_t active_task = 1);
  std::map<std::string, std::int64_t> named() const;

  std::int64_t amount_of(std::string_view name) const;
  // `needs` fits into what is left of this when `used` is taken.
  bool has_room(const Resources& used, const Resources& needs) const;
  // How much of `needs` is missing then, from 0 (it fits) to 1 (nothing of some of it is left).
  double missing(const Resources& used, const Resources& needs) const;
  // The largest part of this that `some` is of any one resource, from 0 to 1 if it fits.
  double share_of(const Resources& some) const;
  void add(const Resources& more, std::int64_t sign);

  friend auto operator<=>(const Resources&, const Resources&) = default;
};

// "1 active-task, 4096 memory"
std::string in_words(const Resources& resources);

// A text of a document that becomes a name: not empty, not too long, no control characters.
Result<void> check_name(std::string_view what, std::string_view name);

}  // namespace muster::queue
