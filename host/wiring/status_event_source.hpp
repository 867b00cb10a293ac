// Tells of what changed at plugins and worker configurations, as events. They say themselves what
// they are; who looks often enough sees every change that lasts.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "host/events/event.hpp"
#include "host/plugin_loader/plugin_status.hpp"
#include "host/pools/service.hpp"

namespace muster {

// THREADS: one.
class StatusEventSource {
 public:
  explicit StatusEventSource(std::function<void(events::Event)> tell) : tell_(std::move(tell)) {}

  // What is found at the first look is no change.
  void look(const plugin_loader::PluginList& plugins);
  void look(const std::optional<pools::Status>& configuration);

 private:
  void tell(const char* kind, std::string text, json::object details);

  const std::function<void(events::Event)> tell_;
  bool plugins_known_ = false, configuration_known_ = false;
  std::map<std::string, std::string> states_;  // by plugin and version, or by instance
  std::string serving_, refused_;              // revisions
};

}  // namespace muster
