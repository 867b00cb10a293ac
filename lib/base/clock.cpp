#include "lib/base/clock.hpp"

namespace muster {

Time SystemClock::now() const {
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

SteadyTime SystemClock::steady() const {
  return std::chrono::steady_clock::now();
}

}  // namespace muster
