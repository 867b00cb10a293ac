// Where a plugin runs.
#pragma once

#include <optional>
#include <string_view>

namespace muster {

enum class Isolation {
  in_process,  // in the host, on a thread of its own
  process,     // in a cell: a child process
};

constexpr std::string_view to_string(Isolation isolation) {
  return isolation == Isolation::in_process ? "in_process" : "process";
}

constexpr std::optional<Isolation> isolation_from(std::string_view word) {
  if (word == "in_process") return Isolation::in_process;
  if (word == "process") return Isolation::process;
  return std::nullopt;
}

}  // namespace muster
