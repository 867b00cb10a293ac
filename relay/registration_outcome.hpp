// How a request of a machine ended.
#pragma once

#include <cstddef>

namespace muster::relay {

enum class RegistrationOutcome {
  registered,           // the host gave credentials
  host_refused,         // the host said no to this machine: its own answer was passed on
  host_failed,          // no answer of the host, or one that says that it is in trouble
  relay_refused,        // the host does not accept the relay's own credentials
  sender_unclear,       // a proxy does not say for whom it asks
  address_not_allowed,  // in none of allowedNetworks
  no_reverse_name,
  name_not_allowed,
  name_not_confirmed,
  dns_failed,
  rate_limited,
  too_busy,
  bad_request,
};
inline constexpr std::size_t registration_outcome_count = 13;

// "registered", "nameNotConfirmed", ...
const char* to_string(RegistrationOutcome outcome);
// "accepted", "refused" (it was looked at, and the answer is no) or "failed" (try again).
const char* decision_of(RegistrationOutcome outcome);

}  // namespace muster::relay
