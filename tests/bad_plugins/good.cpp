// Nothing is wrong with this one. Built in several versions, for swaps.
#include "well_behaved.hpp"

EXPORT_PLUGIN(well_behaved::create, well_behaved::call, well_behaved::destroy);
