#include "host/wiring/host_status.hpp"

#include <unistd.h>

#include <muster/codec.hpp>

namespace muster {
namespace {

json::array to_array(const std::vector<std::string>& texts) {
  json::array items;
  for (const std::string& text : texts) items.emplace_back(json::string(text));
  return items;
}

}  // namespace

std::string_view to_string(HostState state) {
  switch (state) {
    case HostState::starting:
      return "starting";
    case HostState::ready:
      return "ready";
    case HostState::stopping:
      break;
  }
  return "stopping";
}

void PublishedStatus::change(const std::function<void(HostStatus&)>& edit) {
  auto next = std::make_shared<HostStatus>(*get());
  edit(*next);
  const std::lock_guard guard(mutex_);
  status_ = std::move(next);
}

json::object status_document(const HostStatus& status, const Clock& clock,
                             const json::object& plugins) {
  const config::HostConfiguration& configuration = *status.configuration;
  json::object document;
  document["version"] = MUSTER_VERSION;
  document["state"] = to_string(status.state);
  document["pid"] = ::getpid();
  document["startedAt"] = format_time(status.started);
  document["uptimeSeconds"] =
      std::chrono::floor<std::chrono::seconds>(clock.steady() - status.started_steady).count();
  document["address"] = status.url;
  document["dataDirectory"] = status.data_directory.string();
  document["configurationFile"] =
      configuration.file.empty() ? json::value(nullptr) : json::value(configuration.file.string());
  document["configurationLoadedAt"] = format_time(status.configuration_loaded);
  document["configurationProblems"] = to_array(status.configuration_problems);
  document["restartNeeded"] = to_array(status.restart_needed);
  document["plugins"] = plugins;
  return document;
}

}  // namespace muster
