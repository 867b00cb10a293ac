// What a machine brings to be registered, by itself or through a relay that vouches for it.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <boost/system/result.hpp>

#include "host/registration/credentials.hpp"
#include "host/registration/refusal.hpp"

namespace muster::registration {

struct Application {
  // Pool, group and id may be empty if a relay vouches for it: then the provider names them.
  Claim claim;
  json::object proof;
  std::string address;  // where the machine is; see address_of()
  std::optional<Voucher> voucher = {};
  std::optional<Time> booted = {};
  std::string trace_parent = {};  // the header of the request, for what the provider asks others
};

using Outcome = boost::system::result<GrantedCredentials, Refusal>;

// Called once. THREADS: any; it must not wait.
using Done = std::function<void(Outcome)>;

}  // namespace muster::registration
