// Every answer to a relay is an event: which machine was let in or refused, and why.
#pragma once

#include "host/events/model/event.hpp"
#include "host/registration/claim.hpp"
#include "host/registration/refusal.hpp"

namespace muster::registration {

events::Event relay_event(const Claim& claim, const Voucher& voucher);
events::Event relay_event(const Claim& claim, const Voucher& voucher, const Refusal& refusal);

}  // namespace muster::registration
