// A way to call one plugin instance. The host has three: directly (tests), in its own process, and
// in a child process; callers of a Channel cannot tell them apart.
#pragma once

#include <string>
#include <string_view>

#include <muster/bidding_strategy.hpp>
#include <muster/provider.hpp>

namespace muster {

class Channel {
 public:
  virtual ~Channel() = default;

  // Returns by the context's deadline, whatever the plugin does. Thread-safe; one call at a time
  // reaches each object that the plugin made.
  virtual Result<std::string> call(std::string_view method, std::string_view request,
                                   const Context& context) = 0;

  // Told by the typed clients below, which alone can see it: counted against the plugin.
  virtual void answer_was_wrong(std::string_view /*method*/, const std::string& /*why*/) noexcept {}
};

// The typed interfaces over a channel. An answer of the wrong shape is `internal`: a bug of the
// plugin.
class ProviderClient final : public Provider {
 public:
  explicit ProviderClient(Channel& channel) : channel_(channel) {}  // borrowed

  Result<Placements> placements(const PlacementsRequest&, const Context&) override;
  Result<Expansion> expand(const ExpandRequest&, const Context&) override;
  Result<Bids> bid(const BidRequest&, const Context&) override;
  Result<Allocation> allocate(const AllocateRequest&, const Context&) override;
  Result<Listing> list(const ListRequest&, const Context&) override;
  Result<Termination> terminate(const TerminateRequest&, const Context&) override;
  Result<Identity> identify(const IdentifyRequest&, const Context&) override;
  Result<Notices> notices(const NoticesRequest&, const Context&) override;
  Result<Diagnosis> diagnose(const DiagnoseRequest&, const Context&) override;

 private:
  Channel& channel_;
};

class StrategyClient final : public BiddingStrategy {
 public:
  explicit StrategyClient(Channel& channel) : channel_(channel) {}  // borrowed

  Result<Size> size(const SizeRequest&, const Context&) override;
  Result<Selection> select(const SelectRequest&, const Context&) override;

 private:
  Channel& channel_;
};

}  // namespace muster
