// Keeps a simulated cloud in a file, so that its machines outlive the process that runs it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "plugins/base/state_file.hpp"
#include "plugins/provider/simulated/cloud.hpp"

namespace muster::simulated {

// A cloud and its file as one provider.
class KeptCloud final : public Provider {
 public:
  KeptCloud(std::unique_ptr<Cloud> cloud, std::string path)
      : cloud_(std::move(cloud)), file_(std::move(path)) {}

  Result<Placements> placements(const PlacementsRequest&, const Context&) override;
  Result<Expansion> expand(const ExpandRequest&, const Context&) override;
  Result<Bids> bid(const BidRequest&, const Context&) override;
  Result<Allocation> allocate(const AllocateRequest&, const Context&) override;
  Result<Listing> list(const ListRequest&, const Context&) override;
  Result<Termination> terminate(const TerminateRequest&, const Context&) override;
  Result<Identity> identify(const IdentifyRequest&, const Context&) override;
  Result<Notices> notices(const NoticesRequest&, const Context&) override;

  // Reads the file for the first time; changes nothing.
  Result<void> load();

 private:
  template <class Reply, class Request>
  Result<Reply> kept(Result<Reply> (Provider::*method)(const Request&, const Context&),
                     const Request& request, const Context& context);

  std::unique_ptr<Cloud> cloud_;
  StateFile file_;
};

}  // namespace muster::simulated
