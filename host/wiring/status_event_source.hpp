// Makes events of what changes at plugins and worker configurations.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "host/events/model/event.hpp"
#include "host/plugin_loader/plugin_changes.hpp"
#include "host/pools/service.hpp"

namespace muster {

// THREADS: plugins are observed on the catalog's thread, worker configurations on that of their
// service; `emit` is called on both.
class StatusEventSource final : public plugin_loader::PluginListener {
 public:
  explicit StatusEventSource(std::function<void(events::Event)> emit) : emit_(std::move(emit)) {}

  // How things are at first is no event.
  void plugins_are(const plugin_loader::PluginSnapshot&) override {}
  void plugins_changed(const plugin_loader::PluginSnapshot& now,
                       const plugin_loader::PluginChanges& changes) override;

  // Each status after the one before. The revision that serves first is no event; one that is
  // refused always is.
  void observe(const pools::Status& configuration);

 private:
  // Why worker configurations do not serve.
  struct Refusal {
    std::string revision;
    std::string source_error;
    rules::Problems problems;
    std::vector<pools::HeldFile> held_files;
    friend bool operator==(const Refusal&, const Refusal&) = default;
  };
  void observe(const plugin_loader::Change<plugin_loader::VersionState>& change) const;
  void observe(const plugin_loader::Change<plugin_loader::InstanceState>& change) const;
  void emit(const char* kind, std::string text, json::object details) const;

  const std::function<void(events::Event)> emit_;
  std::string serving_;  // revision; empty: none yet
  std::optional<Refusal> refusal_;
};

}  // namespace muster
