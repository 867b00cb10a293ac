// Which powered machines are awake for which launch: what must outlive the process.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include <muster/launch_types.hpp>

#include "plugins/base/state_file.hpp"

namespace muster::static_machines {

// Written before its wake command is run, and gone after its power-off command was.
struct AwakeMachine {
  std::string host_id;
  ProviderId provider_id;
  Instance instance;  // pending until the wake command has succeeded
  Time called{};      // when the wake command was last begun

  static constexpr auto fields(auto visit) {
    return visit(required("hostId", &AwakeMachine::host_id),
                 required("providerId", &AwakeMachine::provider_id),
                 required("instance", &AwakeMachine::instance),
                 required("called", &AwakeMachine::called));
  }
  bool belongs_to(const Owner& owner) const {
    return host_id == owner.host_id && provider_id == owner.provider_id;
  }
};

// Remembered for a day, for hosts that repeat an old key.
struct EndedLaunch {
  Instance instance;
  Time at{};

  static constexpr auto fields(auto visit) {
    return visit(required("instance", &EndedLaunch::instance), required("at", &EndedLaunch::at));
  }
};

// A machine that sleeps but is not woken before that time.
struct RestingMachine {
  Time until{};
  std::string reason;

  static constexpr auto fields(auto visit) {
    return visit(required("until", &RestingMachine::until),
                 required("reason", &RestingMachine::reason));
  }
};

struct PowerState {
  std::int64_t v = 1;
  std::map<std::string, AwakeMachine> awake;      // by worker id
  std::map<std::string, RestingMachine> resting;  // by worker id
  std::map<std::string, EndedLaunch> ended;       // by owner and key
  std::map<std::string, std::int64_t> epochs;     // by owner: the newest seen

  static constexpr auto fields(auto visit) {
    return visit(required("v", &PowerState::v), required("awake", &PowerState::awake),
                 optional("resting", &PowerState::resting), optional("ended", &PowerState::ended),
                 optional("epochs", &PowerState::epochs));
  }
};

// The state and its file, which other processes may change in between. THREADS: one at a time.
class KeptPowerState {
 public:
  // Does no I/O. ":memory:" or nothing: there is no file.
  explicit KeptPowerState(const std::string& path);

  // As it is on the disk now. The reference is good until the next call.
  Result<std::reference_wrapper<const PowerState>> look();

  // Under the file's lock: `change` gets the state of now and says whether to go on; what it
  // changed is on the disk when this returns, or has not happened.
  Result<void> change(const Context& context,
                      const std::function<Result<void>(PowerState&)>& change);

 private:
  std::optional<StateFile> file_;
  PowerState state_;
};

}  // namespace muster::static_machines
