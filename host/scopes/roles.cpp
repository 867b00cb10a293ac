#include "host/scopes/roles.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_set>

namespace muster::auth {
namespace {

constexpr std::string_view assume = "assume:", parameter = "<..>";
constexpr std::size_t most_scopes = 10'000, longest_scope = 4096;

// What `<..>` stands for if somebody holds `held`; nothing if the role is not for him.
std::optional<std::string> matched(std::string_view pattern, std::string_view held) {
  const bool all = held.ends_with('*'), many = pattern.ends_with('*');
  const auto stem = stem_of(held), prefix = stem_of(pattern);
  if (!all && !many) return held == pattern ? std::optional(std::string()) : std::nullopt;
  if (many && held.starts_with(prefix) && stem.size() >= prefix.size())
    return std::string(held.substr(prefix.size()));
  if (all && prefix.starts_with(stem)) return "*";
  return std::nullopt;
}

// A parameter that is itself a pattern makes the scope a pattern, cut off behind it.
std::string with_parameter(const std::string& scope, const std::string& value) {
  const auto at = scope.find(parameter);
  if (at == scope.npos) return scope;
  std::string text = scope.substr(0, at) + value;
  if (!value.ends_with('*')) text += scope.substr(at + parameter.size());
  return text;
}

// Could be, or stand for, `assume:...`. A client that may do everything needs no roles, and a role
// that gives everything leads nowhere.
bool may_assume(std::string_view scope) {
  if (scope == "*") return false;
  return scope.starts_with(assume) || (scope.ends_with('*') && assume.starts_with(stem_of(scope)));
}

Error wrong_role(std::string_view pattern, const std::string& why) {
  return Error::config("role `" + std::string(pattern.substr(assume.size())) + "`: " + why);
}

}  // namespace

Result<void> Roles::check(const Role& role) {
  if (!is_valid_scope(role.pattern))
    return wrong_role(role.pattern, "its name has characters that no scope has");
  for (const std::string& scope : role.scopes) {
    if (!is_valid_scope(scope))
      return wrong_role(role.pattern, "its scopes must be printable ASCII");
    const auto at = scope.find(parameter);
    if (!role.pattern.ends_with('*') || at == scope.npos) continue;
    if (scope.find(parameter, at + 1) != scope.npos)
      return wrong_role(role.pattern, "`" + scope + "` has `<..>` more than once");
    if (scope.ends_with("*<..>"))
      return wrong_role(role.pattern, "`" + scope +
                                          "` ends with `*<..>`, which leaves open whether the "
                                          "star is a pattern");
  }
  return {};
}

// Which roles the holder of this one has, too, whatever `<..>` is.
std::vector<std::size_t> Roles::leads_to(const Role& role) const {
  std::vector<std::size_t> found;
  for (const std::string& scope : role.scopes) {
    const std::string widest = role.pattern.ends_with('*') ? with_parameter(scope, "*") : scope;
    if (!may_assume(widest)) continue;
    for (std::size_t i = 0; i < roles_.size(); ++i)
      if (matched(roles_[i].pattern, widest)) found.push_back(i);
  }
  return found;
}

// Depth first, with a stack of its own: a long chain of roles must not use up the thread's.
Result<void> Roles::check_cycles() const {
  enum class State { fresh, open, done };
  std::vector<State> states(roles_.size(), State::fresh);
  struct Step {
    std::size_t role;
    std::vector<std::size_t> next;
  };
  std::vector<Step> path;
  const auto enter = [&](std::size_t role) {
    states[role] = State::open;
    path.push_back({role, leads_to(roles_[role])});
  };
  for (std::size_t start = 0; start < roles_.size(); ++start) {
    if (states[start] == State::fresh) enter(start);
    while (!path.empty()) {
      if (path.back().next.empty()) {
        states[path.back().role] = State::done;
        path.pop_back();
        continue;
      }
      const std::size_t next = path.back().next.back();
      path.back().next.pop_back();
      if (states[next] == State::open)
        return wrong_role(roles_[next].pattern,
                          "it leads back to itself, by way of role `" +
                              roles_[path.back().role].pattern.substr(assume.size()) + "`");
      if (states[next] == State::fresh) enter(next);
    }
  }
  return {};
}

Result<Roles> Roles::make(const std::map<std::string, std::vector<std::string>>& roles) {
  Roles made;
  for (const auto& [name, scopes] : roles) {
    made.roles_.push_back({std::string(assume) + name, scopes});
    if (const auto sound = check(made.roles_.back()); !sound) return sound.error();
  }
  if (const auto sound = made.check_cycles(); !sound) return sound.error();
  return made;
}

std::vector<std::string> Roles::expanded(const std::vector<std::string>& scopes) const {
  std::vector<std::string> all = scopes;
  std::unordered_set<std::string> seen(scopes.begin(), scopes.end());
  std::deque<std::string> waiting;
  for (const std::string& scope : scopes)
    if (may_assume(scope)) waiting.push_back(scope);
  for (; !waiting.empty() && !roles_.empty(); waiting.pop_front())
    for (const Role& role : roles_) {
      const auto value = matched(role.pattern, waiting.front());
      if (!value) continue;
      const bool many = role.pattern.ends_with('*');
      for (const std::string& scope : role.scopes) {
        std::string granted = many ? with_parameter(scope, *value) : scope;
        if (granted.size() > longest_scope || !seen.insert(granted).second) continue;
        if (all.size() >= most_scopes + scopes.size()) return all;
        if (may_assume(granted)) waiting.push_back(granted);
        all.push_back(std::move(granted));
      }
    }
  return all;
}

std::map<std::string, std::vector<std::string>> Roles::list() const {
  std::map<std::string, std::vector<std::string>> all;
  for (const Role& role : roles_) all[role.pattern.substr(assume.size())] = role.scopes;
  return all;
}

}  // namespace muster::auth
