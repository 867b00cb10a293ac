// Whether a worker that was launched from an older document is still what the pool wants.
#pragma once

#include <optional>
#include <span>
#include <string>

#include <muster/provider.hpp>

namespace muster::lifecycle {

// Empty: it conforms. Else why not, naming the field that differs, for the 410 that the worker is
// told.
//
// It conforms if some current document of its placement is equal to its own except for behavioural
// fields, and each of its dynamic fields has a value that some such document still has.
std::optional<std::string> why_outdated(const LaunchConfig& launched,
                                        std::span<const LaunchConfig* const> current,
                                        const FieldClasses& classes);

}  // namespace muster::lifecycle
