// Claims ABI 1 but its descriptor is smaller than ABI 1.0 promises.
#include <muster/abi.h>

extern "C" __attribute__((visibility("default"))) const muster_plugin muster_plugin_v1 = {
    16, 0, "provider", "short_descriptor", "1.0.0", nullptr, nullptr, nullptr, nullptr};
