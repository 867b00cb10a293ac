#include "plugins/strategy/estimator/sizing.hpp"

#include <algorithm>
#include <cmath>

#include "plugins/strategy/classic/numbers.hpp"
#include "plugins/strategy/classic/sizing.hpp"

namespace muster::estimator {
namespace {

using classic::in_words;
using std::to_string;

// Up, so that one waiting task gets a worker at any ratio; but 3.0000000000000004 is 3.
std::int64_t scaled(std::int64_t count, double ratio) {
  const double exact = static_cast<double>(count) * ratio;
  return static_cast<std::int64_t>(std::ceil(exact - 1e-9 * std::max(1.0, exact)));
}

// The request as the estimator sees it.
struct Pool {
  explicit Pool(const SizeRequest& request)
      : pending(request.pending),
        running(request.capacity.running),
        requested(request.capacity.requested),
        idle(std::min(request.capacity.idle, running)),
        claimed(running - idle),
        existing(running + requested),
        ratio(std::max(0.0, request.settings.scaling_ratio)),
        given_ratio(request.settings.scaling_ratio),
        given_min(request.settings.min_capacity),
        max(request.settings.max_capacity),
        min(std::min(given_min, max)) {}

  std::int64_t pending, running, requested, idle, claimed;
  std::int64_t existing;  // what stops is not there any more: it neither helps nor blocks
  double ratio, given_ratio;
  std::int64_t given_min, max, min;
};

std::string oddities(const Pool& pool) {
  std::string text;
  if (pool.given_min > pool.max)
    text += "; minCapacity " + to_string(pool.given_min) + " is above maxCapacity " +
            to_string(pool.max) + ", which wins";
  if (pool.given_ratio < 0) text += "; scalingRatio " + in_words(pool.given_ratio) + " counts as 0";
  return text;
}

// What the pool's limits make of it.
std::string limits(const Pool& pool, std::int64_t wanted, std::int64_t desired) {
  if (desired == wanted) return {};
  const bool limited = desired < wanted;
  return std::string(limited ? "; limited: " : "; raised: ") +
         to_string(limited ? pool.max : pool.min) +
         (limited ? " maxCapacity − " : " minCapacity − ") + to_string(pool.running) +
         " running − " + to_string(pool.requested) +
         " requested = " + to_string(desired - pool.existing);
}

}  // namespace

Result<Size> size(const SizeRequest& request) {
  if (const auto counts = classic::check_counts(request); !counts) return counts.error();
  if (request.capacity.idle < 0)
    return Error::invalid("capacity.idle: " + to_string(request.capacity.idle) + " is negative");
  const Pool pool(request);
  // The ratio is one of all that waits, not of what waits without a worker: workers that boot stay
  // the same share of it in every round.
  const std::int64_t share = scaled(pool.pending, pool.ratio);
  const std::int64_t wanted = pool.claimed + share;
  const std::int64_t desired = std::min(std::max(wanted, pool.min), pool.max);
  const std::int64_t change = desired - pool.existing;
  Size answer{change, to_string(pool.pending) + " pending × " + in_words(pool.ratio) + " = " +
                          to_string(share) + "; " + to_string(share) + " − " +
                          to_string(pool.idle) + " idle − " + to_string(pool.requested) +
                          " requested = " + to_string(wanted - pool.existing)};
  answer.reason += limits(pool, wanted, desired);
  if (change == 0) answer.reason += ": nothing more is needed";
  if (change < 0) answer.reason += ": " + to_string(-change) + " too many";
  answer.reason += oddities(pool);
  return answer;
}

}  // namespace muster::estimator
