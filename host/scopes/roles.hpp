// Roles: a caller with the scope `assume:<role>` also has the role's scopes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <muster/error.hpp>

#include "host/scopes/scopes.hpp"

namespace muster::auth {

// Immutable. THREADS: any.
class Roles {
 public:
  Roles() = default;
  // By name. A name that ends with `*` is a role for all that begin so, and `<..>` in its scopes is
  // what stood in the place of the star. Fails as `config` if a scope is none, if it has `<..>`
  // twice or behind a star, and if roles lead back to themselves.
  static Result<Roles> make(const std::map<std::string, std::vector<std::string>>& roles);

  // The scopes with all that the roles add, role by role until nothing is added. Bounded: roles
  // that multiply stop at 10 000 scopes, which gives less than was meant and never more.
  std::vector<std::string> expanded(const std::vector<std::string>& scopes) const;
  bool empty() const { return roles_.empty(); }
  // As make() got them.
  std::map<std::string, std::vector<std::string>> list() const;
  friend bool operator==(const Roles&, const Roles&) = default;

 private:
  struct Role {
    std::string pattern;  // "assume:worker-pool:*"
    std::vector<std::string> scopes;
    friend bool operator==(const Role&, const Role&) = default;
  };
  static Result<void> check(const Role& role);
  std::vector<std::size_t> leads_to(const Role& role) const;
  Result<void> check_cycles() const;

  std::vector<Role> roles_;
};

}  // namespace muster::auth
