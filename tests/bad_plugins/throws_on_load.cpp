// Throws in a static constructor: no catch of the host's can help.
#include <stdexcept>

#include "well_behaved.hpp"

namespace {
struct Thrower {
  Thrower() { throw std::runtime_error("static constructor"); }
} thrower;
}  // namespace

EXPORT_PLUGIN(well_behaved::create, well_behaved::call, well_behaved::destroy);
