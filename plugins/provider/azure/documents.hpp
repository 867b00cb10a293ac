// The data of this folder (*.json), which the plugin carries inside.
#pragma once

#include "plugins/cloud/documents.hpp"

namespace muster::azure {

extern const cloud::Documents documents;

}  // namespace muster::azure
