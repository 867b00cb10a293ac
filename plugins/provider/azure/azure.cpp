// The provider of Azure's machines as a plugin.
#include <muster/plugin.hpp>

#include "plugins/provider/azure/azure_provider.hpp"

using muster::azure::AzureProvider;
MUSTER_PLUGIN(AzureProvider);
