// Taskcluster's estimator, corrected. README.md says in which respects.
#include <muster/plugin.hpp>

#include "plugins/strategy/estimator/selection.hpp"
#include "plugins/strategy/estimator/sizing.hpp"

namespace muster::estimator {
namespace {

class Estimator final : public BiddingStrategy {
 public:
  static StrategyDescription describe() {
    return {.description =
                "Taskcluster's estimator, corrected: a share of what waits, less what is idle or "
                "on its "
                "way, from offers drawn by weight",
            .config_schema = {{"type", "object"}, {"additionalProperties", false}}};
  }

  static Result<std::unique_ptr<BiddingStrategy>> create(const json::object& config,
                                                         const Context&) {
    if (!config.empty())
      return Error::invalid(std::string(config.begin()->key()) +
                            ": the estimator has no settings; minCapacity, maxCapacity and "
                            "scalingRatio are the pool's");
    return std::make_unique<Estimator>();
  }

  Result<Size> size(const SizeRequest& request, const Context&) override {
    return estimator::size(request);
  }

  Result<Selection> select(const SelectRequest& request, const Context&) override {
    return estimator::select(request);
  }
};

}  // namespace
}  // namespace muster::estimator

using muster::estimator::Estimator;
MUSTER_PLUGIN(Estimator);
