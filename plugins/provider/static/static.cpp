// The provider of announced machines as a plugin.
#include <muster/plugin.hpp>

#include "plugins/provider/static/static_provider.hpp"

using muster::static_machines::StaticProvider;
MUSTER_PLUGIN(StaticProvider);
