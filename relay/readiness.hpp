// Whether the relay could vouch for a machine now: a DNS server answers, and so does the host.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <muster/json.hpp>

#include "lib/base/clock.hpp"
#include "relay/name_verification.hpp"

namespace muster::relay {

// THREADS: any. look() waits for servers; what it saw counts for a few seconds, so that it cannot
// be used to make the relay ask them all the time.
class Readiness {
 public:
  using AskServer = std::function<DnsAnswer(const std::string& server)>;
  using ReachHost = std::function<Result<void>()>;
  static constexpr std::chrono::seconds holds_for{5};

  Readiness(std::vector<std::string> servers, AskServer ask, ReachHost reach, const Clock& clock);

  struct Seen {
    bool ready = false;
    json::object document;  // {"ready", "dns": {server: result}, "host": "answers" or why not}
  };
  Seen look();

 private:
  const std::vector<std::string> servers_;
  const AskServer ask_;
  const ReachHost reach_;
  const Clock& clock_;
  std::mutex mutex_;
  std::optional<SteadyTime> looked_;
  Seen seen_;
};

// What servers are asked to find out whether they answer.
Question question_of_readiness();

}  // namespace muster::relay
