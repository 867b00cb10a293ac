// One running instance of a plugin, in this process or in a cell. What the loader keeps behind the
// Channel that the rest of the host sees.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include <muster/context.hpp>
#include <muster/error.hpp>

namespace muster::plugin_loader {

// What a call told about the plugin's health, beside its result.
enum class Incident {
  none,
  bug,        // an `internal` failure or an answer that breaks a limit: the instance goes on
  violation,  // an exception crossed the boundary: the plugin is not to be trusted
  stuck,      // the deadline passed and the plugin did not come back: the instance is lost
  ended,      // its process ended: the instance is lost
};

struct Outcome {
  Result<std::string> result;
  Incident incident = Incident::none;
};

// What a plugin gets from the host. Copied into everything that may outlive its caller.
struct HostServices {
  std::function<Time()> now;
  std::function<void(LogLevel, std::string_view line)> log;
};

class Backend {
 public:
  virtual ~Backend() = default;

  // Returns by the context's deadline and a little (see `grace`), whatever the plugin does.
  // THREADS: any; calls take turns. After `stuck` or `ended` every further call fails at once.
  virtual Outcome call(std::string_view method, std::string_view request,
                       const Context& context) = 0;

  // Becomes readable when the instance is lost without a call; -1 if that cannot happen.
  virtual int lost_fd() const { return -1; }
  virtual std::optional<pid_t> pid() const { return std::nullopt; }
  // How it was lost, if it was.
  virtual std::optional<std::string> how_lost() { return std::nullopt; }
};

// A plugin that watches cancelled() gets this long after its deadline to say so.
inline constexpr std::chrono::milliseconds grace{50};
// How often a waiting caller looks whether it was cancelled meanwhile.
inline constexpr std::chrono::milliseconds cancel_poll{20};
// A larger answer is a bug, or an attempt on the host's memory.
inline constexpr std::size_t max_reply_size = std::size_t{64} << 20;

}  // namespace muster::plugin_loader
