#include "lib/http/body_budget.hpp"

namespace muster::http {

BodyHold::~BodyHold() {
  budget_->used_ -= bytes_;
  peer_->buffered_ -= bytes_;
}

BodyHold::Grown BodyHold::grow_to(std::uint64_t bytes, bool known_caller) {
  if (bytes <= bytes_) return Grown::yes;
  const std::uint64_t more = bytes - bytes_;
  bytes_ = bytes;
  const std::uint64_t of_peer = peer_->buffered_ += more, of_all = budget_->used_ += more;
  const BodyBudgetSettings& room = budget_->settings_;
  const std::uint64_t part = known_caller ? 1 : 2;
  if (peer_->limited_ && of_peer > room.of_peer / part) return Grown::no_room_for_peer;
  return of_all > room.of_all / part ? Grown::no_room : Grown::yes;
}

}  // namespace muster::http
