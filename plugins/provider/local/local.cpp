// The provider of local workers as a plugin.
#include <muster/plugin.hpp>

#include "plugins/provider/local/local_provider.hpp"

using muster::local::LocalProvider;
MUSTER_PLUGIN(LocalProvider);
