// Cannot start now, but perhaps later.
#include <unistd.h>

#include "well_behaved.hpp"

static muster_status create(const muster_call* call, void** instance) {
  const std::string config(call->request.data, call->request.size);  // {"ready":"<path>"}
  const auto from = config.find(":\"") + 2;
  const std::string path = config.substr(from, config.find('"', from) - from);
  if (::access(path.c_str(), F_OK) == 0) return well_behaved::create(call, instance);
  well_behaved::answer(call, "the cloud does not answer");
  return MUSTER_TRANSIENT;
}

EXPORT_PLUGIN(create, well_behaved::call, well_behaved::destroy);
