#include "host/endpoints/endpoint.hpp"

#include <algorithm>
#include <stdexcept>

namespace muster::endpoints {
namespace {

// Calls `each` with every name between the two signs.
template <class Each>
void for_each_name(std::string_view text, char open, char close, Each each) {
  for (auto at = text.find(open); at != std::string_view::npos; at = text.find(open, at + 1))
    each(text.substr(at + 1, text.find(close, at) - at - 1));
}

}  // namespace

std::vector<std::string> parameters_of(const Endpoint& endpoint) {
  std::vector<std::string> names;
  for_each_name(endpoint.path, '{', '}', [&](std::string_view name) {
    names.emplace_back(name.substr(name.starts_with('*') ? 1 : 0));
  });
  return names;
}

const Pattern& pattern_of_path(std::string_view parameter) {
  const Pattern* known = identifiers::pattern_of(parameter);
  if (!known)
    throw std::logic_error("no form is known of the path parameter " + std::string(parameter) +
                           "; say it in host/identifiers");
  return *known;
}

const Pattern& pattern_of(const QueryParameter& parameter) {
  return parameter.pattern ? *parameter.pattern : identifiers::text;
}

bool Endpoint::knows_from_path(std::string_view scope) const {
  const std::vector<std::string> known = parameters_of(*this);
  bool all = true;
  for_each_name(scope, '<', '>', [&](std::string_view wanted) {
    all = all && std::ranges::find(known, wanted) != known.end();
  });
  return all;
}

bool Endpoint::authorizes_by_request() const {
  return !std::ranges::all_of(scopes.list(),
                              [this](std::string_view scope) { return knows_from_path(scope); });
}

}  // namespace muster::endpoints
