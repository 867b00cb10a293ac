// The provider of AWS's machines as a plugin.
#include <muster/plugin.hpp>

#include "plugins/provider/aws/aws_provider.hpp"

using muster::aws::AwsProvider;
MUSTER_PLUGIN(AwsProvider);
