// Needs a function that nobody has; found at load time only because of rtld_now.
#include "well_behaved.hpp"

extern "C" int function_from_nowhere();

static muster_status call(void* instance, const muster_call* request) {
  return function_from_nowhere() == 0 ? MUSTER_OK : well_behaved::call(instance, request);
}

EXPORT_PLUGIN(well_behaved::create, call, well_behaved::destroy);
