// Whether two parsed documents say exactly the same: same types, same values, same keys.
#pragma once

#include "toml_fwd.hpp"

namespace muster::rules::syntax {

bool same(const toml::node& a, const toml::node& b);

}  // namespace muster::rules::syntax
