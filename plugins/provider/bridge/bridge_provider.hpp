// A provider that is somewhere else.
#pragma once

#include <memory>

#include <muster/provider.hpp>

#include "plugins/provider/bridge/service.hpp"

namespace muster::bridge {

// Forwards each call as it is, and checks what comes back. Keeps no state, so it is idempotent
// where the service is: keys and owner go along in the documents.
class BridgeProvider final : public Provider {
 public:
  // `name` is how messages call the service: its URL.
  BridgeProvider(std::unique_ptr<Service> service, std::string name)
      : service_(std::move(service)), name_(std::move(name)) {}

  Result<Placements> placements(const PlacementsRequest&, const Context&) override;
  Result<Expansion> expand(const ExpandRequest&, const Context&) override;
  Result<Bids> bid(const BidRequest&, const Context&) override;
  Result<Allocation> allocate(const AllocateRequest&, const Context&) override;
  Result<Listing> list(const ListRequest&, const Context&) override;
  Result<Termination> terminate(const TerminateRequest&, const Context&) override;
  Result<Identity> identify(const IdentifyRequest&, const Context&) override;
  Result<Notices> notices(const NoticesRequest&, const Context&) override;

 private:
  template <class Reply, class Request>
  Result<Reply> forward(const char* method, const Request& request, const Context& context);

  std::unique_ptr<Service> service_;
  std::string name_;
};

}  // namespace muster::bridge
