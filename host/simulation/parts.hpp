// The parts of World that its own files share.
#pragma once

#include "host/simulation/world.hpp"

namespace muster::simulation {

// A cloud's clock is not the host's: it never jumps.
class CloudContext final : public Context {
 public:
  explicit CloudContext(Time now) : now_(now) {}
  bool cancelled() const noexcept override { return false; }
  milliseconds time_left() const noexcept override { return std::chrono::seconds(30); }
  Time now() const noexcept override { return now_; }
  void log(LogLevel, std::string_view) const noexcept override {}

 private:
  Time now_;
};

// Of the clients of the queue. Longer than the jumps of a clock that a host does not notice.
inline constexpr milliseconds client_heartbeat = std::chrono::minutes(5);

struct World::Cloud {
  ProviderScenario scenario;
  simulated::Cloud cloud;
  std::set<std::string> seen;     // machines that were found already
  std::set<std::string> counted;  // machines whose cost is in the report
  milliseconds down_until{0};
  // What its listings leave out until then: that share of the machines of a region; "": of all.
  struct Lie {
    milliseconds until{0};
    double share = 0;
    std::string region;
    std::string salt;
  } lie;
  std::set<std::string> alive;   // machines that have not ended yet, as of the last look
  std::set<std::string> hidden;  // machines that a listing has left out
  std::set<std::string> silent;  // machines that will never register

  explicit Cloud(ProviderScenario made_of)
      : scenario(std::move(made_of)), cloud(scenario.cloud, [](milliseconds, const Context&) {}) {}
};

struct World::Agent {
  Cloud* cloud;
  Instance instance;
  fleet::WorkerName name;
  Sha256 secret{};  // the same for all its life
  bool registered = false;
  bool leaving = false;
  bool gone = false;
  bool asks = false;     // whether it may end, while it is idle
  milliseconds told{0};  // when it last told the host how it is
  Time credentials_expire{};
  std::map<std::uint64_t, Task> tasks;
  bool free = false;  // it is among those that could take work
  std::uint64_t next_task = 1;
};

inline bool ended(const simulated::Machine& machine, Time now) {
  return machine.terminated || (machine.interruption && machine.interruption->at <= now);
}

template <class Input>
void World::tell_fleet(Input input) {
  if (!hears()) return;
  input(*fleet_, host_now());
  pump();
}

}  // namespace muster::simulation
