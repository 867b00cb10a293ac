// What happens to a machine's request: whose is it, may that address ask, who is it by the DNS,
// what does the host say. Every answer is counted and noted.
#pragma once

#include <memory>
#include <mutex>

#include "lib/base/log.hpp"
#include "lib/http/router.hpp"
#include "relay/audit.hpp"
#include "relay/counters.hpp"
#include "relay/host_link.hpp"
#include "relay/rate_limit.hpp"
#include "relay/settings.hpp"
#include "relay/verifier.hpp"

namespace muster::relay {

inline constexpr std::string_view register_path = "/api/muster-relay/v1/register";

// Borrowed; they must outlive the relay and every request that is under way.
struct Parts {
  Verifier& verifier;
  HostLink& host;
  http::WorkerThreads& workers;  // that wait for the host
  Audit& audit;
  Counters& counters;
  const Clock& clock;
};

// THREADS: any.
class Relay {
 public:
  Relay(Parts parts, std::shared_ptr<const Settings> settings);

  // The handler of POST register_path.
  void answer(http::Request&& request, const http::Reply& reply);

  // For requests that come from now on.
  void replace_settings(std::shared_ptr<const Settings> settings);
  std::shared_ptr<const Settings> settings() const;

 private:
  struct Exchange;
  using Shared = std::shared_ptr<Exchange>;

  // True: it was answered with a refusal.
  bool refused_at_the_door(const Shared& exchange);
  bool refused_for_its_body(const Shared& exchange);
  void on_verdict(const Shared& exchange, const std::shared_ptr<const Verdict>& verdict,
                  Source source);
  void ask_host(const Shared& exchange);
  void pass_on(const Shared& exchange, HostAnswer answer);
  void refuse(const Shared& exchange, RegistrationOutcome outcome, int status,
              std::string_view code, const std::string& message,
              std::optional<std::chrono::seconds> retry_after = {});
  void finish(const Shared& exchange, RegistrationOutcome outcome, http::Response response);

  const Parts parts_;
  RateLimit rate_limit_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Settings> settings_;
};

}  // namespace muster::relay
