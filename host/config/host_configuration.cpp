#include "host/config/host_configuration.hpp"

#include "lib/toml/toml_document.hpp"

namespace muster::config {

std::string_view to_string(DemandType type) {
  switch (type) {
    case DemandType::file:
      return "file";
    case DemandType::folder:
      return "folder";
    case DemandType::http:
      return "http";
    default:
      return "taskcluster";
  }
}

std::string HostConfiguration::place_of(std::string_view pointer) const {
  std::string name = file.empty() ? "(built-in configuration)" : file.string();
  if (!document) return name;
  const Position position = document->value_position(pointer);
  return name + ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
}

}  // namespace muster::config
