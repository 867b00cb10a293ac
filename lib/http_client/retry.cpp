#include "lib/http_client/retry.hpp"

#include <algorithm>

namespace muster::http_client {

bool may_pass(const Answer& answer) {
  using Kind = Failure::Kind;
  if (answer)
    return answer->status == 429 || answer->status == 502 || answer->status == 503 ||
           answer->status == 504;
  switch (answer.error().kind) {
    case Kind::name_unknown:
    case Kind::no_connection:
    case Kind::no_answer:
    case Kind::cut_off:
      return true;
    default:
      return false;
  }
}

std::chrono::milliseconds retry_delay(const Retry& retry, int attempts, const Answer& answer,
                                      double random) {
  auto delay = retry.first_delay;
  for (int i = 1; i < attempts && delay < retry.longest_delay; ++i) delay *= 2;
  delay = std::min(delay, retry.longest_delay);
  delay -= std::chrono::milliseconds(
      static_cast<std::int64_t>(static_cast<double>(delay.count()) / 2 * random));
  if (answer && answer->retry_after)
    delay = std::max<std::chrono::milliseconds>(delay, *answer->retry_after);
  return delay;
}

bool RetryBudget::spend() {
  if (left_ < 1) return false;
  left_ -= 1;
  return true;
}

}  // namespace muster::http_client
