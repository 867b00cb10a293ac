// How a registered worker renews its credentials.
#pragma once

#include <memory>
#include <string>

#include "host/registration/application.hpp"
#include "host/registration/state.hpp"

namespace muster::registration {

void renew_credentials(const std::shared_ptr<State>& state, const fleet::WorkerName& name,
                       const std::string& renewal_secret, Done done);

}  // namespace muster::registration
