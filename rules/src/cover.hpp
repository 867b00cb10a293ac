// Whether one condition holds wherever another does, as far as the patterns alone tell. "No" may
// mean "not known".
#pragma once

#include <muster/rules/document.hpp>

namespace muster::rules {

bool covers(const Glob& wide, const Glob& narrow);
bool covers(const Condition& wide, const Condition& narrow);
bool covers(const Clause& wide, const Clause& narrow);
bool covers(const Rule& wide, const Rule& narrow);

}  // namespace muster::rules
