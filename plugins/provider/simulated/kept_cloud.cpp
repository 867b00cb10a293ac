#include "plugins/provider/simulated/kept_cloud.hpp"

#include <muster/codec.hpp>

namespace muster::simulated {

Result<void> KeptCloud::load() {
  const auto text = file_.refresh();
  if (!text) return text.error();
  if (!*text) return {};
  auto state = decode<State>(**text);
  if (state && state->v == 1) {
    cloud_->restore(std::move(*state));
    return {};
  }
  file_.distrust();  // nobody but a person knows whether it may be thrown away
  if (!state)
    return Error::invalid("stateFile: " + file_.path() + " is damaged: " + state.error().message +
                          "; restore it, or remove it and lose its machines");
  return Error::invalid("stateFile: " + file_.path() + " has version " + std::to_string(state->v) +
                        ", this plugin reads version 1");
}

template <class Reply, class Request>
Result<Reply> KeptCloud::kept(Result<Reply> (Provider::*method)(const Request&, const Context&),
                              const Request& request, const Context& context) {
  const auto lock = file_.lock(context);
  if (!lock) return lock.error();
  if (const auto loaded = load(); !loaded) return loaded.error();
  const auto before = cloud_->changes();
  auto reply = (cloud_.get()->*method)(request, context);
  if (cloud_->changes() == before) return reply;
  if (const auto stored = file_.store(encode(cloud_->state())); !stored) {
    cloud_->restore({});  // what is not on the disk did not happen
    file_.distrust();
    return stored.error();
  }
  return reply;
}

Result<Placements> KeptCloud::placements(const PlacementsRequest& request, const Context& context) {
  return kept(&Provider::placements, request, context);
}
Result<Expansion> KeptCloud::expand(const ExpandRequest& request, const Context& context) {
  return cloud_->expand(request, context);  // knows no state
}
Result<Bids> KeptCloud::bid(const BidRequest& request, const Context& context) {
  return kept(&Provider::bid, request, context);
}
Result<Allocation> KeptCloud::allocate(const AllocateRequest& request, const Context& context) {
  return kept(&Provider::allocate, request, context);
}
Result<Listing> KeptCloud::list(const ListRequest& request, const Context& context) {
  return kept(&Provider::list, request, context);
}
Result<Termination> KeptCloud::terminate(const TerminateRequest& request, const Context& context) {
  return kept(&Provider::terminate, request, context);
}
Result<Identity> KeptCloud::identify(const IdentifyRequest& request, const Context& context) {
  return kept(&Provider::identify, request, context);
}
Result<Notices> KeptCloud::notices(const NoticesRequest& request, const Context& context) {
  return kept(&Provider::notices, request, context);
}

}  // namespace muster::simulated
