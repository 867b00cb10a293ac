// The state in which a pool wants its machines, and what a machine says of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <muster/error.hpp>
#include <muster/json.hpp>
#include <muster/rules/glob.hpp>

namespace muster::static_machines {

using ReportedState = std::map<std::string, std::string>;

// `state` of the section: {"os": "14.*", "image": ["a-*", "b-1"]}; a list means any of them.
class WantedState {
 public:
  // Fails as `invalid`; the message begins with `path` ("static.state").
  static Result<WantedState> parse(const json::value& state, const std::string& path);

  // Empty if the machine is as it should be; else what is not, in words.
  std::string difference(const ReportedState& reported) const;

 private:
  std::map<std::string, std::vector<rules::Glob>> wanted_;
};

// "state" of an identity proof; empty if there is none. Fails as `invalid` if it is not an object
// of a reasonable number of reasonable texts.
Result<ReportedState> reported_state(const json::object& proof);

}  // namespace muster::static_machines
