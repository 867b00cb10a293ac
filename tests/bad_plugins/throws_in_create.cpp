// Lets an exception out of create().
#include <stdexcept>

#include "well_behaved.hpp"

static muster_status create(const muster_call*, void**) {
  throw std::runtime_error("no route to cloud");
}

EXPORT_PLUGIN(create, well_behaved::call, well_behaved::destroy);
