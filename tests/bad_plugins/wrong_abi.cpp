// Built against an ABI of the future; its constructor must never run in this host.
#include <cstdlib>

namespace {
struct Loud {
  Loud() { std::abort(); }
} loud;
}  // namespace

extern "C" __attribute__((visibility("default"))) const int muster_plugin_v2 = 2;
