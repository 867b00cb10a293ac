// When a request is sent again. Pure; waiting is the client's.
#pragma once

#include <chrono>

#include "lib/http_client/message.hpp"

namespace muster::http_client {

// Whether a second attempt may succeed: the server was not reached, broke off, or is overloaded
// (429, 502, 503, 504). A timeout is final, because it is one for all attempts together.
bool may_pass(const Answer& answer);

// How long to wait before the attempt after `attempts` (1, 2, ...): twice as long each time, minus
// up to half of it by chance (`random` from 0 to 1), and no less than the server's Retry-After.
std::chrono::milliseconds retry_delay(const Retry& retry, int attempts, const Answer& answer,
                                      double random);

// For all requests of a client together, so that a server in trouble does not get a multiple of its
// usual load: each request earns a tenth of a retry.
class RetryBudget {
 public:
  static constexpr double most = 10, earned = 0.1;

  void earn() { left_ = left_ + earned < most ? left_ + earned : most; }
  // False if there is none left.
  bool spend();

 private:
  double left_ = most;
};

}  // namespace muster::http_client
