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

Size more(const Pool& pool, std::int64_t unlimited, std::int64_t desired, std::string sum) {
  const std::int64_t change = desired - pool.existing;
  if (desired < unlimited)
    sum += "; limited: " + to_string(pool.max) + " maxCapacity − " + to_string(pool.running) +
           " running − " + to_string(pool.requested) + " requested = " + to_string(change);
  else if (desired > unlimited)
    sum += "; raised: " + to_string(pool.min) + " minCapacity − " + to_string(pool.running) +
           " running − " + to_string(pool.requested) + " requested = " + to_string(change);
  return {change, std::move(sum)};
}

// Nothing is to be launched; perhaps there is too much.
Size surplus(const Pool& pool, std::string sum) {
  const std::int64_t work = scaled(pool.pending + pool.claimed, pool.ratio);
  // A ratio below 1 keeps fewer workers than tasks; it does not send workers away from their tasks.
  const std::int64_t busy = std::max(work, pool.claimed);
  const std::int64_t target = std::min(pool.max, std::max(pool.min, busy));
  if (pool.existing <= target) return {0, sum + ": nothing more is needed"};
  const std::int64_t change = target - pool.existing;
  sum += "; target " + to_string(target) + " = (" + to_string(pool.pending) + " pending + " +
         to_string(pool.claimed) + " busy) × " + in_words(pool.ratio);
  if (busy > work) sum += ", at least the busy ones";
  sum += ", between " + to_string(pool.min) + " and " + to_string(pool.max) + "; " +
         to_string(pool.running) + " running + " + to_string(pool.requested) + " requested is " +
         to_string(-change) + " too many";
  return {change, std::move(sum)};
}

}  // namespace

Result<Size> size(const SizeRequest& request) {
  if (const auto counts = classic::check_counts(request); !counts) return counts.error();
  if (request.capacity.idle < 0)
    return Error::invalid("capacity.idle: " + to_string(request.capacity.idle) + " is negative");
  const Pool pool(request);
  const std::int64_t waiting = std::max<std::int64_t>(0, pool.pending - pool.idle - pool.requested);
  const std::int64_t wanted = scaled(waiting, pool.ratio);
  std::string sum = to_string(pool.pending) + " pending − " + to_string(pool.idle) + " idle − " +
                    to_string(pool.requested) + " requested = " + to_string(waiting) +
                    " without a worker, × " + in_words(pool.ratio) + " = " + to_string(wanted);
  const std::int64_t unlimited = pool.existing + wanted;
  const std::int64_t desired = std::min(std::max(unlimited, pool.min), pool.max);
  Size answer = desired > pool.existing ? more(pool, unlimited, desired, std::move(sum))
                                        : surplus(pool, std::move(sum));
  answer.reason += oddities(pool);
  return answer;
}

}  // namespace muster::estimator
