// The provider of Google Cloud's machines as a plugin.
#include <muster/plugin.hpp>

#include "plugins/provider/google/google_provider.hpp"

using muster::google::GoogleProvider;
MUSTER_PLUGIN(GoogleProvider);
