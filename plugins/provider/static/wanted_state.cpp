#include "plugins/provider/static/wanted_state.hpp"

#include <algorithm>

namespace muster::static_machines {
namespace {

constexpr std::size_t most_reported = 64, longest_reported = 256;

Result<rules::Glob> glob_at(const json::value& pattern, const std::string& path) {
  if (!pattern.is_string()) return Error::invalid(path + ": must be a string");
  auto glob = rules::Glob::parse(pattern.get_string());
  if (!glob) return Error::invalid(path + ": " + glob.error().message);
  return glob;
}

std::string any_of(const std::vector<rules::Glob>& globs) {
  std::string text;
  for (const rules::Glob& glob : globs)
    text += (text.empty() ? "\"" : " or \"") + glob.pattern() + "\"";
  return text;
}

}  // namespace

Result<WantedState> WantedState::parse(const json::value& state, const std::string& path) {
  if (!state.is_object())
    return Error::invalid(path + ": must be a table of names and patterns, like { os = \"14.*\" }");
  WantedState made;
  for (const auto& member : state.get_object()) {
    const std::string name(member.key());
    const std::string at = path + "." + name;
    if (name.empty()) return Error::invalid(path + ": a name is empty");
    auto& globs = made.wanted_[name];
    if (!member.value().is_array()) {
      auto glob = glob_at(member.value(), at);
      if (!glob) return glob.error();
      globs.push_back(std::move(*glob));
      continue;
    }
    for (const json::value& pattern : member.value().get_array()) {
      auto glob = glob_at(pattern, at + "[" + std::to_string(globs.size()) + "]");
      if (!glob) return glob.error();
      globs.push_back(std::move(*glob));
    }
    if (globs.empty()) return Error::invalid(at + ": is an empty list, which nothing matches");
  }
  return made;
}

std::string WantedState::difference(const ReportedState& reported) const {
  std::string text;
  for (const auto& [name, globs] : wanted_) {
    const auto said = reported.find(name);
    const bool fits =
        said != reported.end() && std::ranges::any_of(globs, [&](const rules::Glob& glob) {
          return glob.matches(said->second);
        });
    if (fits) continue;
    text += (text.empty() ? "" : "; ") + name + " is " +
            (said == reported.end() ? "not reported" : "\"" + said->second + "\"") +
            ", the pool wants " + any_of(globs);
  }
  return text;
}

Result<ReportedState> reported_state(const json::object& proof) {
  ReportedState reported;
  const json::value* const state = proof.if_contains("state");
  if (!state) return reported;
  if (!state->is_object() || state->get_object().size() > most_reported)
    return Error::invalid("state in workerIdentityProof must be an object of at most " +
                          std::to_string(most_reported) + " texts");
  for (const auto& member : state->get_object()) {
    const json::value& said = member.value();
    if (!said.is_string() || said.get_string().size() > longest_reported ||
        member.key().size() > longest_reported)
      return Error::invalid(
          "state in workerIdentityProof: \"" + std::string(member.key().substr(0, 40)) +
          "\" must be a string of at most " + std::to_string(longest_reported) + " bytes");
    reported[std::string(member.key())] = std::string(said.get_string());
  }
  return reported;
}

}  // namespace muster::static_machines
