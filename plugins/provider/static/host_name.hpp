// Names of machines in DNS.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>
#include <muster/rules/glob.hpp>

namespace muster::static_machines {

// In small letters and without the dot at its end; nothing if it is no host name.
std::optional<std::string> plain_host_name(std::string_view name);

// "mac-*.dc1.example.com": a glob for each label. A `*` stays within its label, so that a pattern
// never reaches into names below a machine's own.
class HostNamePattern {
 public:
  // Fails as `invalid` with what is wrong.
  static Result<HostNamePattern> parse(std::string_view pattern);

  bool matches(std::string_view plain_name) const;

 private:
  std::vector<rules::Glob> labels_;
};

}  // namespace muster::static_machines
