// From the host's configuration to the fleet's settings. Pure.
#pragma once

#include <map>
#include <string>

#include <muster/provider.hpp>

#include "host/config/host_configuration.hpp"
#include "host/fleet/fleet.hpp"
#include "host/fleet/model/messages.hpp"
#include "host/queue/queue.hpp"

namespace muster {

// `url`: where workers find the host.
fleet::Settings fleet_settings(const config::HostConfiguration& host, const std::string& url);
queue::Settings queue_settings(const config::QueueSettings& from);
std::map<queue::TeamId, queue::TeamNumbers> teams_of(const config::HostConfiguration& host);
fleet::ProviderUp provider_up(const config::PluginInstance& instance,
                              const ProviderDescription& description);

// The instance of that id; null if there is none.
const config::PluginInstance* find_instance(const std::vector<config::PluginInstance>& instances,
                                            const std::string& id);

}  // namespace muster
