// The JSON Schemas of a description.
#include "findings.hpp"

namespace muster::testing {
void check_schema(Findings&, const json::object&, const char*, const char*) {}
std::vector<std::pair<std::string, json::object>> wrong_copies(const json::object&,
                                                               const json::value&) {
  return {};
}
}  // namespace muster::testing
