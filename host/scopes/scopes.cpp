#include "host/scopes/scopes.hpp"

#include <algorithm>

namespace muster::auth {
namespace {

std::vector<std::string> normalized(std::vector<std::string> scopes) {
  std::sort(scopes.begin(), scopes.end(), scope_before);
  std::vector<std::string> kept;
  kept.reserve(scopes.size());
  for (std::string& scope : scopes)
    if (kept.empty() || !satisfies(kept.back(), scope)) kept.push_back(std::move(scope));
  return kept;
}

json::value parts_json(const char* key, json::array parts) {
  return json::object{{key, std::move(parts)}};
}

}  // namespace

std::string_view stem_of(std::string_view scope) {
  return scope.ends_with('*') ? scope.substr(0, scope.size() - 1) : scope;
}

bool is_valid_scope(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

bool satisfies(std::string_view held, std::string_view wanted) {
  return held == wanted || (held.ends_with('*') && wanted.starts_with(stem_of(held)));
}

bool scope_before(std::string_view a, std::string_view b) {
  const int order = stem_of(a).compare(stem_of(b));
  return order != 0 ? order < 0 : a.ends_with('*') && !b.ends_with('*');
}

ScopeSet::ScopeSet(std::vector<std::string> scopes) {
  auto content = std::make_shared<Content>();
  content->list = normalized(std::move(scopes));
  for (const std::string& scope : content->list)
    if (scope.ends_with('*'))
      content->prefixes.push_back(stem_of(scope));
    else
      content->exact.push_back(scope);
  std::sort(content->exact.begin(), content->exact.end());
  std::sort(content->prefixes.begin(), content->prefixes.end());
  content_ = std::move(content);
}

bool ScopeSet::satisfies(std::string_view scope) const {
  // No prefix begins another, so the only one that can fit is the last that is not behind `scope`.
  const auto& prefixes = content_->prefixes;
  const auto behind = std::upper_bound(prefixes.begin(), prefixes.end(), scope);
  if (behind != prefixes.begin() && scope.starts_with(*std::prev(behind))) return true;
  return std::binary_search(content_->exact.begin(), content_->exact.end(), scope);
}

bool ScopeSet::satisfies_all(const std::vector<std::string>& scopes) const {
  return std::all_of(scopes.begin(), scopes.end(),
                     [this](const std::string& scope) { return satisfies(scope); });
}

bool ScopeSet::may_satisfy(std::string_view beginning) const {
  return std::ranges::any_of(content_->list, [&](const std::string& held) {
    return held.starts_with(beginning) ||
           (held.ends_with('*') && beginning.starts_with(stem_of(held)));
  });
}

Expression scope(std::string text) {
  return {Expression::Kind::scope, std::move(text), {}};
}
Expression all_of(std::vector<Expression> parts) {
  return {Expression::Kind::all_of, {}, std::move(parts)};
}
Expression any_of(std::vector<Expression> parts) {
  return {Expression::Kind::any_of, {}, std::move(parts)};
}

bool satisfies(const ScopeSet& held, const Expression& wanted) {
  const auto given = [&](const Expression& part) { return satisfies(held, part); };
  switch (wanted.kind) {
    case Expression::Kind::scope:
      return held.satisfies(wanted.text);
    case Expression::Kind::all_of:
      return std::all_of(wanted.parts.begin(), wanted.parts.end(), given);
    case Expression::Kind::any_of:
      break;
  }
  return std::any_of(wanted.parts.begin(), wanted.parts.end(), given);
}

json::value missing(const ScopeSet& held, const Expression& wanted) {
  if (wanted.kind == Expression::Kind::scope)
    return held.satisfies(wanted.text) ? json::value() : json::value(wanted.text);
  const bool all = wanted.kind == Expression::Kind::all_of;
  json::array left;
  for (const Expression& part : wanted.parts) {
    json::value without = missing(held, part);
    if (!without.is_null())
      left.push_back(std::move(without));
    else if (!all)
      return {};
  }
  if (all && left.empty()) return {};
  if (left.size() == 1) return left.front();
  return parts_json(all ? "AllOf" : "AnyOf", std::move(left));
}

json::value to_json(const Expression& expression) {
  if (expression.kind == Expression::Kind::scope) return json::value(expression.text);
  json::array parts;
  for (const Expression& part : expression.parts) parts.push_back(to_json(part));
  return parts_json(expression.kind == Expression::Kind::all_of ? "AllOf" : "AnyOf",
                    std::move(parts));
}

std::string shown(const json::value& expression) {
  if (const auto* text = expression.if_string()) return std::string(*text);
  return json::write_pretty(expression);
}

}  // namespace muster::auth
