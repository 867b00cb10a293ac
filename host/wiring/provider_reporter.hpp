// Reports to the fleet which configured providers are up, and what they offer, as soon as the
// plugins or the host's configuration change.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "host/config/host_configuration.hpp"
#include "host/fleet/model/messages.hpp"
#include "host/plugin_loader/plugin_changes.hpp"

namespace muster {

// THREADS: any.
class ProviderReporter final : public plugin_loader::PluginListener {
 public:
  // Called with a lock held: they return at once and do not call back.
  struct Receivers {
    // A provider is up, or another version or other limits of it are.
    std::function<void(fleet::ProviderUp)> up;
    std::function<void(ProviderId, std::string why)> down;
    std::function<void()> changed;  // after any of the above
  };

  ProviderReporter(Receivers receivers,
                   std::shared_ptr<const config::HostConfiguration> configuration)
      : receivers_(std::move(receivers)), configuration_(std::move(configuration)) {}

  void configure(std::shared_ptr<const config::HostConfiguration> configuration);

  void plugins_are(const plugin_loader::PluginSnapshot& now) override;
  void plugins_changed(const plugin_loader::PluginSnapshot& now,
                       const plugin_loader::PluginChanges& changes) override;

 private:
  // A plugin that runs for an instance. One that is only being restarted runs.
  struct Running {
    std::string version;
    std::shared_ptr<const json::object> description;
  };
  struct Reported {
    std::string version;
    config::LaunchLimits limits;
    friend bool operator==(const Reported&, const Reported&) = default;
  };
  void report();  // with the lock held
  std::string why_down(const config::PluginInstance& provider) const;

  const Receivers receivers_;
  std::mutex mutex_;
  std::shared_ptr<const config::HostConfiguration> configuration_;
  std::map<std::string, Running> running_;       // by instance id
  std::map<std::string, std::string> failures_;  // why others do not run
  std::map<std::string, Reported> reported_;     // the providers that the fleet believes to be up
  std::map<std::string, std::string> down_;      // those that it knows to be down, and why
};

}  // namespace muster
