// The scopes that an endpoint needs. There is no default: each endpoint states them, and one that
// is open states why.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::endpoints {

// For each row that names a provider: a scope for a pool does not allow to launch with every
// provider.
inline constexpr std::string_view use_provider = "worker-manager:provider:<providerId>";

// A value. THREADS: any.
class Scopes {
 public:
  enum class Kind {
    open,             // credentials are not even looked at
    any_caller,       // credentials are checked if there are any, and no scope is needed
    all_of,           // the caller holds all of them
    all_unless_open,  // the same, unless the host's configuration opens the endpoint
  };

  Kind kind() const { return kind_; }
  // <name> stands for a parameter of the path, else for a text of the body, else for a parameter of
  // the query; see Call::authorize.
  const std::vector<std::string_view>& list() const { return list_; }
  // Of `open` and `any_caller`.
  std::string_view reason() const { return reason_; }

 private:
  friend Scopes open_to_all(std::string_view reason);
  friend Scopes any_caller(std::string_view reason);
  friend Scopes all_of(std::vector<std::string_view> scopes);
  friend Scopes all_unless_open(std::vector<std::string_view> scopes);

  Scopes(Kind kind, std::vector<std::string_view> list, std::string_view reason)
      : kind_(kind), list_(std::move(list)), reason_(reason) {}

  Kind kind_;
  std::vector<std::string_view> list_;
  std::string_view reason_;
};

inline Scopes open_to_all(std::string_view reason) {
  return {Scopes::Kind::open, {}, reason};
}
inline Scopes any_caller(std::string_view reason) {
  return {Scopes::Kind::any_caller, {}, reason};
}
inline Scopes all_of(std::vector<std::string_view> scopes) {
  return {Scopes::Kind::all_of, std::move(scopes), {}};
}
inline Scopes all_unless_open(std::vector<std::string_view> scopes) {
  return {Scopes::Kind::all_unless_open, std::move(scopes), {}};
}

}  // namespace muster::endpoints
