// What operators write about a bridge.
#pragma once

#include <muster/provider.hpp>

#include "plugins/http_service/endpoint.hpp"

namespace muster::bridge {

inline constexpr const char* section = "bridge";        // of worker configurations
inline constexpr const char* example_url = "example:";  // a service in memory, for trials
inline constexpr double default_timeout_seconds = 20;

struct Settings {
  http_service::Endpoint endpoint;
  bool example = false;
};

// All that can be said of every bridge, whatever service is behind it.
ProviderDescription description();

// `invalid` names the key.
Result<Settings> read_settings(const json::object& config);

}  // namespace muster::bridge
