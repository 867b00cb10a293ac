#include "plugins/provider/google/machine_types.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

namespace muster::google {
namespace {

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const auto end = name.find('-', begin);
    parts.push_back(name.substr(begin, end - begin));
    if (end == name.npos) return parts;
    begin = end + 1;
  }
}

std::optional<double> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) return std::nullopt;
  return number;
}

// GiB for each processor.
double gib_for_each_processor(std::string_view family, std::string_view kind) {
  const bool is_old = family == "n1";
  if (kind == "standard") return is_old ? 3.75 : 4;
  if (kind == "highmem") return is_old ? 6.5 : 8;
  if (kind == "highcpu") return is_old ? 0.9 : family == "c2d" || family == "c3" ? 2 : 1;
  return 0;
}

}  // namespace

bool is_machine_type(std::string_view name) {
  return name.size() >= 4 && name.size() <= 63 && name.find('-') != name.npos &&
         name.front() >= 'a' && name.front() <= 'z' && name.back() != '-' &&
         std::ranges::all_of(name, [](char letter) {
           return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') ||
                  letter == '-';
         });
}

std::optional<MachineShape> shape_of(std::string_view machine_type) {
  const auto parts = parts_of(machine_type);
  // Shared processors.
  if (machine_type == "e2-micro") return MachineShape{"e2", 0.25, 1};
  if (machine_type == "e2-small") return MachineShape{"e2", 0.5, 2};
  if (machine_type == "e2-medium") return MachineShape{"e2", 1, 4};
  if (machine_type == "f1-micro") return MachineShape{"f1", 1, 0.6};
  if (machine_type == "g1-small") return MachineShape{"g1", 1, 1.7};
  const bool is_bare = parts[0] == "custom";
  const std::size_t at = is_bare ? 0 : 1;
  if (parts.size() > at && parts[at] == "custom" && parts.size() >= at + 3) {
    const auto processors = whole_number(parts[at + 1]), megabytes = whole_number(parts[at + 2]);
    if (!processors || !megabytes) return std::nullopt;
    return MachineShape{is_bare ? "n1" : std::string(parts[0]), *processors, *megabytes / 1024};
  }
  if (parts.size() < 3) return std::nullopt;
  const auto processors = whole_number(parts[2]);
  if (!processors) return std::nullopt;
  return MachineShape{std::string(parts[0]), *processors,
                      *processors * gib_for_each_processor(parts[0], parts[1])};
}

}  // namespace muster::google
