// The right size, but a function is missing.
#include "well_behaved.hpp"

EXPORT_PLUGIN(well_behaved::create, nullptr, well_behaved::destroy);
