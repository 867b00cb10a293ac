// What the name of a machine type says: "n2-standard-8", "e2-custom-4-8192", "custom-2-4096".
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::google {

struct MachineShape {
  std::string family;  // "n2"
  double processors = 0;
  double memory_gib = 0;  // 0: not known
};

bool is_machine_type(std::string_view name);

// Nothing if the name does not say it.
std::optional<MachineShape> shape_of(std::string_view machine_type);

}  // namespace muster::google
