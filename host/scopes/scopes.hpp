// Scopes: what a caller may do, as Taskcluster writes it. A scope is a text; one that ends with `*`
// stands for all that begin like it.
//
// Pure functions and immutable values. THREADS: any.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <muster/json.hpp>

namespace muster::auth {

// Printable ASCII, the empty text included.
bool is_valid_scope(std::string_view text);

// Without the star at its end, if it has one.
std::string_view stem_of(std::string_view scope);

// Equal, or `held` ends with `*` and `wanted` begins with what stands before it.
bool satisfies(std::string_view held, std::string_view wanted);

// `x*` comes before `x`, which comes before `xa`: in this order a pattern stands directly before
// all that it covers.
bool scope_before(std::string_view a, std::string_view b);

// Sorted, without what another one of them covers. Copies share one list.
class ScopeSet {
 public:
  explicit ScopeSet(std::vector<std::string> scopes = {});

  // Takes time in the logarithm of the number of scopes.
  bool satisfies(std::string_view scope) const;
  bool satisfies_all(const std::vector<std::string>& scopes) const;
  // Whether it satisfies any scope at all that begins so.
  bool may_satisfy(std::string_view beginning) const;
  const std::vector<std::string>& list() const { return content_->list; }

 private:
  struct Content {
    std::vector<std::string> list;
    std::vector<std::string_view> exact;     // sorted as plain texts
    std::vector<std::string_view> prefixes;  // sorted; none is the beginning of another
  };
  std::shared_ptr<const Content> content_;
};

// A scope, all of some expressions, or any of some.
struct Expression {
  enum class Kind { scope, all_of, any_of };
  Kind kind = Kind::all_of;
  std::string text = {};               // of a scope
  std::vector<Expression> parts = {};  // of the others
};
Expression scope(std::string text);
Expression all_of(std::vector<Expression> parts);
Expression any_of(std::vector<Expression> parts);

// All of none is satisfied, any of none is not.
bool satisfies(const ScopeSet& held, const Expression& wanted);

// What is left of the expression without what is held, as Taskcluster's messages show it: null if
// nothing is, a text for a single scope.
json::value missing(const ScopeSet& held, const Expression& wanted);

// "scope", {"AllOf": [...]}, {"AnyOf": [...]}
json::value to_json(const Expression& expression);

// As it stands in messages: a text as it is, anything else as indented JSON.
std::string shown(const json::value& expression);

}  // namespace muster::auth
