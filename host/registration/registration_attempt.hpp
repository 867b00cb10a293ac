// One registration from the application to credentials or a refusal.
#pragma once

#include <memory>

#include "host/registration/application.hpp"
#include "host/registration/state.hpp"

namespace muster::registration {

void begin_registration(const std::shared_ptr<State>& state, Application application, Done done);

}  // namespace muster::registration
