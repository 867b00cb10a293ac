// The way to credentials: a machine proves which worker it is, and its provider confirms that. Both
// APIs call this and translate the outcome to HTTP.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "host/registration/application.hpp"
#include "host/registration/state.hpp"

namespace muster::registration {

// THREADS: any.
class Registrar {
 public:
  explicit Registrar(Dependencies host, FailureLimits limits = {});
  // Waits for providers that are being asked; no provider is asked afterwards. Applications that
  // are under way may still be answered later. THREADS: any but those that `Done` is called on.
  ~Registrar();
  Registrar(const Registrar&) = delete;
  Registrar& operator=(const Registrar&) = delete;

  // Whether a machine at that address, or a relay, has failed too often lately. Asked before its
  // request is read; see address_of().
  std::optional<Refusal> check_peer(const std::string& address);
  std::optional<Refusal> check_relay(const std::string& client_id);
  // A request from that address was not even an application.
  void note_malformed_request(const std::string& address);

  Challenge make_challenge(const Claim& claim);

  // Checks the claim, asks the provider and changes the fleet. Returns at once.
  void register_worker(Application application, Done done);

  // New credentials for a worker that shows the renewal secret of its last ones. Returns at once.
  void renew(const fleet::WorkerName& name, const std::string& renewal_secret, Done done);

  const Meters& meters() const { return state_->meters; }

 private:
  const std::shared_ptr<State> state_;  // applications share it
};

}  // namespace muster::registration
