// Describes itself in the wrong shape.
#include "well_behaved.hpp"

static muster_status call(void*, const muster_call* request) {
  return well_behaved::answer(
      request, R"({"name":"wrong_description","version":"1.0.0","configSchema":[]})");
}

EXPORT_PLUGIN(well_behaved::create, call, well_behaved::destroy);
