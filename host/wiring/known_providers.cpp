#include "host/wiring/known_providers.hpp"

#include <algorithm>
#include <chrono>

#include <muster/provider.hpp>

namespace muster {
namespace {

using taskcluster_api::ProviderInfo;

bool has_declared_workers(const json::object& description) {
  const json::value* list = description.if_contains("capabilities");
  return list && list->is_array() &&
         std::ranges::find(list->get_array(), json::value(capability::announced_workers)) !=
             list->get_array().end();
}

}  // namespace

std::vector<ProviderInfo> KnownProviders::read() const {
  std::vector<ProviderInfo> providers;
  for (const config::PluginInstance& instance : status_.get()->configuration->providers) {
    const auto running = plugins_.running(instance.id);
    // Of "provider/static" clients know the name: "static".
    providers.push_back({.id = ProviderId(instance.id),
                         .plugin = instance.plugin.substr(instance.plugin.find('/') + 1),
                         .running = running.has_value(),
                         .declares = running && has_declared_workers(running->description)});
  }
  std::ranges::sort(providers, {}, &ProviderInfo::id);
  return providers;
}

std::vector<ProviderInfo> KnownProviders::get() {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (read_at_ == SteadyTime{} || now - read_at_ > std::chrono::milliseconds(250)) {
    providers_ = read();
    read_at_ = now;
  }
  return providers_;
}

}  // namespace muster
