// Says what is wrong with its configuration.
#include "well_behaved.hpp"

static muster_status create(const muster_call* call, void**) {
  well_behaved::answer(call, "the account is missing");
  return MUSTER_INVALID;
}

EXPORT_PLUGIN(create, well_behaved::call, well_behaved::destroy);
