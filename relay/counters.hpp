// What is counted.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "relay/registration_outcome.hpp"

namespace muster::metrics {
class Page;
}

namespace muster::relay {

class DnsResolver;
class Verifier;

// How long something took. THREADS: any.
class DurationHistogram {
 public:
  static constexpr std::array<double, 12> bounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                 0.05,   0.1,   0.25,   1,     5,    30};
  void add(std::chrono::nanoseconds took);
  void write(metrics::Page& page, const char* name, const char* help) const;

 private:
  std::array<std::atomic<std::uint64_t>, bounds.size() + 1> counts_{};
  std::atomic<std::uint64_t> nanoseconds_ = 0;
};

// THREADS: any.
struct Counters {
  std::array<std::atomic<std::uint64_t>, registration_outcome_count> answers{};
  std::array<std::atomic<std::uint64_t>, 6> host_answers{};  // none, 1xx to 5xx
  std::atomic<std::uint64_t> audit_lines_lost = 0;
  DurationHistogram answer_times, host_times;

  void count(RegistrationOutcome outcome, std::chrono::nanoseconds took);
  void count_host(long status, std::chrono::nanoseconds took);
};

void write_metrics(metrics::Page& page, const Counters& counters, const Verifier& verifier,
                   const DnsResolver& resolver);

}  // namespace muster::relay
