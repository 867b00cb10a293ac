// The form that a part of a path or a query may have.
#pragma once

#include "host/identifiers/identifiers.hpp"

namespace muster::endpoints {

using identifiers::Pattern;

}  // namespace muster::endpoints
