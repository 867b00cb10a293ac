// Checks that a worker is the machine that was launched.
#pragma once

#include <muster/identity_types.hpp>

#include "plugins/cloud/machines/seen_proofs.hpp"
#include "plugins/provider/azure/attestation.hpp"

namespace muster::azure {

// "11/20/18 22:08:45 -0000"; nothing if it is not such a time.
std::optional<Time> parse_attested_time(const std::string& text);

// The proof is {"document"}, and {"registrationChallenge"} if the host gave one for the nonce. Each
// document may be used once. THREADS: one at a time. All references are borrowed.
class Identification {
 public:
  Identification(const Settings& settings, Api& api, std::unique_ptr<Attestation> attestation)
      : settings_(settings), api_(api), attestation_(std::move(attestation)) {}

  Result<Identity> identify(const IdentifyRequest& request, const Context& context);

 private:
  Result<std::string> machine_id(const IdentifyRequest& request, const Context& context);
  Result<void> check_times(const json::object& content, Time now, Time& end) const;

  const Settings& settings_;
  Api& api_;
  const std::unique_ptr<Attestation> attestation_;
  cloud::SeenProofs seen_;
};

}  // namespace muster::azure
