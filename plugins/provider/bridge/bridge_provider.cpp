#include "plugins/provider/bridge/bridge_provider.hpp"

#include <muster/codec.hpp>

#include "plugins/provider/bridge/promises.hpp"

namespace muster::bridge {
namespace {

constexpr std::int64_t protocol = 1;

}  // namespace

template <class Reply, class Request>
Result<Reply> BridgeProvider::forward(const char* method, const Request& request,
                                      const Context& context) {
  json::object document = codec::to_value(request).as_object();
  document["protocol"] = protocol;
  const auto body = service_->call(method, json::write(document), context);
  if (!body) return body.error();
  const auto wrong = [&](const std::string& mistake) {
    return Error::internal("the service at " + name_ + " sent a wrong answer to " + method + ": " +
                           mistake);
  };
  auto reply = decode<Reply>(*body);
  if (!reply) return wrong(reply.error().message);
  if (const std::string broken = broken_promise(request, *reply); !broken.empty())
    return wrong(broken);
  return reply;
}

Result<Placements> BridgeProvider::placements(const PlacementsRequest& request,
                                              const Context& context) {
  return forward<Placements>("placements", request, context);
}

Result<Expansion> BridgeProvider::expand(const ExpandRequest& request, const Context& context) {
  const json::value* own = request.document.if_contains(section);
  if (own && !own->is_object())
    return Error::invalid(std::string("document.") + section + ": is not a table");
  return forward<Expansion>("expand", request, context);
}

Result<Bids> BridgeProvider::bid(const BidRequest& request, const Context& context) {
  return forward<Bids>("bid", request, context);
}

Result<Allocation> BridgeProvider::allocate(const AllocateRequest& request,
                                            const Context& context) {
  return forward<Allocation>("allocate", request, context);
}

Result<Listing> BridgeProvider::list(const ListRequest& request, const Context& context) {
  return forward<Listing>("list", request, context);
}

Result<Termination> BridgeProvider::terminate(const TerminateRequest& request,
                                              const Context& context) {
  return forward<Termination>("terminate", request, context);
}

Result<Identity> BridgeProvider::identify(const IdentifyRequest& request, const Context& context) {
  return forward<Identity>("identify", request, context);
}

Result<Notices> BridgeProvider::notices(const NoticesRequest& request, const Context& context) {
  return forward<Notices>("notices", request, context);
}

}  // namespace muster::bridge
