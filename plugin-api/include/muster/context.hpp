// What surrounds one call of a plugin.
#pragma once

#include <chrono>
#include <string_view>

namespace muster {

// Wall time, for everything that is stored, shown or sent.
using Time = std::chrono::sys_time<std::chrono::milliseconds>;

enum class LogLevel { debug, info, warning, error, off };  // `off` only as a threshold

// Valid until the call returns; every method may be used from any thread until then.
class Context {
 public:
  virtual ~Context() = default;

  // The deadline passed or the host is stopping: give up what can be given up and return
  // Error::cancelled.
  virtual bool cancelled() const noexcept = 0;

  // Until the deadline; what a remote call may be given as its own timeout. Never negative.
  virtual std::chrono::milliseconds time_left() const noexcept = 0;

  // The host's clock. A plugin that asks no other clock runs in simulated time, too.
  virtual Time now() const noexcept = 0;

  // Goes to the host's log, with the plugin's and the instance's name. Never pass a secret.
  virtual void log(LogLevel level, std::string_view line) const noexcept = 0;
};

}  // namespace muster
