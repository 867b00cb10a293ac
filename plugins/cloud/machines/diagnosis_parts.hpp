// Rows of `muster provider doctor` that all clouds have.
#pragma once

#include <chrono>
#include <string>

#include "plugins/cloud/machines/machine.hpp"

namespace muster::cloud {

Diagnosis::Check good(std::string subject, std::string message);
Diagnosis::Check bad(std::string subject, std::string message, std::string remedy);
Diagnosis::Check not_known(std::string subject, std::string message, std::string remedy);
// The message is the error's. A remedy that is empty points to docs/clouds/<section>.md.
Diagnosis::Check failed(const Words& words, std::string subject, const Error& error,
                        std::string remedy);

// `offset` is how far the cloud's clock is ahead of ours.
Diagnosis::Check check_of_clock(const Words& words, std::chrono::milliseconds offset);
// If no pool has a launch configuration for the provider.
Diagnosis::Check nothing_to_launch(const Words& words);

}  // namespace muster::cloud
