#include "host/registration/relay_event.hpp"

namespace muster::registration {
namespace {

std::string machine_of(const Voucher& voucher) {
  return voucher.host_name + " (" + voucher.address + ")";
}

events::Event event_of(const Claim& claim, const Voucher& voucher, bool accepted) {
  events::Event event{.kind = "relay-registration"};
  event.provider_id = claim.provider;
  event.worker_pool_id = claim.name.worker_pool_id;
  event.worker_group = claim.name.worker_group;
  event.worker_id = claim.name.worker_id;
  event.details = {{"accepted", accepted},
                   {"relay", voucher.by},
                   {"hostName", voucher.host_name},
                   {"address", voucher.address}};
  return event;
}

}  // namespace

events::Event relay_event(const Claim& claim, const Voucher& voucher) {
  events::Event event = event_of(claim, voucher, true);
  event.text = machine_of(voucher) + " registered as worker " + claim.key();
  return event;
}

events::Event relay_event(const Claim& claim, const Voucher& voucher, const Refusal& refusal) {
  events::Event event = event_of(claim, voucher, false);
  event.text = machine_of(voucher) + " was refused: " + refusal.message;
  event.details["code"] = code_of(refusal.reason);
  event.details["reason"] = refusal.message;
  return event;
}

}  // namespace muster::registration
