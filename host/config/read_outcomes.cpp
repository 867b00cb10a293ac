#include "host/config/read_outcomes.hpp"

#include "lib/toml/units.hpp"

namespace muster::config {

FleetSettings::Outcomes read_outcomes(const json::object& from) {
  FleetSettings::Outcomes outcomes;
  const auto truth = [&](const char* name, std::optional<bool>& into) {
    if (const auto* found = from.if_contains(name)) into = found->as_bool();
  };
  const auto number = [&](const char* name, std::optional<double>& into) {
    if (const auto* found = from.if_contains(name)) into = found->to_number<double>();
  };
  const auto duration = [&](const char* name, std::optional<std::chrono::milliseconds>& into) {
    if (const auto* found = from.if_contains(name))
      into = parse_duration(std::string_view(found->get_string()));
  };
  truth("enabled", outcomes.enabled);
  truth("quarantine", outcomes.quarantine);
  number("falseAlarm", outcomes.false_alarm);
  number("missed", outcomes.missed);
  number("effect", outcomes.effect);
  number("largestShare", outcomes.largest_share);
  duration("firstQuarantine", outcomes.first_quarantine);
  duration("longestQuarantine", outcomes.longest_quarantine);
  return outcomes;
}

}  // namespace muster::config
