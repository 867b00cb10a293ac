#include <muster/channel.hpp>
#include <muster/codec.hpp>
#include <muster/trace.hpp>

namespace muster {
namespace {

template <class Reply, class Request>
Result<Reply> ask(Channel& channel, const char* method, const Request& request,
                  const Context& context) {
  const auto bytes =
      channel.call(method, with_trace(encode(request), trace_parent_of(context)), context);
  if (!bytes) return bytes.error();
  auto reply = decode<Reply>(*bytes);
  if (reply) return reply;
  channel.answer_was_wrong(method, reply.error().message);
  return Error::internal(std::string("the plugin's answer to ") + method +
                         " is wrong: " + reply.error().message);
}

}  // namespace

Result<Placements> ProviderClient::placements(const PlacementsRequest& request,
                                              const Context& context) {
  return ask<Placements>(channel_, "placements", request, context);
}
Result<Expansion> ProviderClient::expand(const ExpandRequest& request, const Context& context) {
  return ask<Expansion>(channel_, "expand", request, context);
}
Result<Bids> ProviderClient::bid(const BidRequest& request, const Context& context) {
  return ask<Bids>(channel_, "bid", request, context);
}
Result<Allocation> ProviderClient::allocate(const AllocateRequest& request,
                                            const Context& context) {
  return ask<Allocation>(channel_, "allocate", request, context);
}
Result<Listing> ProviderClient::list(const ListRequest& request, const Context& context) {
  return ask<Listing>(channel_, "list", request, context);
}
Result<Termination> ProviderClient::terminate(const TerminateRequest& request,
                                              const Context& context) {
  return ask<Termination>(channel_, "terminate", request, context);
}
Result<Identity> ProviderClient::identify(const IdentifyRequest& request, const Context& context) {
  return ask<Identity>(channel_, "identify", request, context);
}
Result<Notices> ProviderClient::notices(const NoticesRequest& request, const Context& context) {
  return ask<Notices>(channel_, "notices", request, context);
}
Result<Diagnosis> ProviderClient::diagnose(const DiagnoseRequest& request, const Context& context) {
  return ask<Diagnosis>(channel_, "diagnose", request, context);
}

Result<Size> StrategyClient::size(const SizeRequest& request, const Context& context) {
  return ask<Size>(channel_, "size", request, context);
}
Result<Selection> StrategyClient::select(const SelectRequest& request, const Context& context) {
  return ask<Selection>(channel_, "select", request, context);
}

}  // namespace muster
