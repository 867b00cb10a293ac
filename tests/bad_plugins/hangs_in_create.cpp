// Never returns from create().
#include <unistd.h>

#include "well_behaved.hpp"

static muster_status create(const muster_call*, void**) {
  for (;;) ::pause();
}

EXPORT_PLUGIN(create, well_behaved::call, well_behaved::destroy);
