#include "plugins/cloud/machines/diagnosis_parts.hpp"

#include <cstdlib>

namespace muster::cloud {

Diagnosis::Check good(std::string subject, std::string message) {
  return {std::move(subject), CheckOutcome::good, std::move(message), {}};
}

Diagnosis::Check bad(std::string subject, std::string message, std::string remedy) {
  return {std::move(subject), CheckOutcome::failed, std::move(message), std::move(remedy)};
}

Diagnosis::Check not_known(std::string subject, std::string message, std::string remedy) {
  return {std::move(subject), CheckOutcome::unknown, std::move(message), std::move(remedy)};
}

Diagnosis::Check failed(const Words& words, std::string subject, const Error& error,
                        std::string remedy) {
  if (remedy.empty())
    remedy = std::string("see the message; docs/clouds/") + words.section +
             ".md says what the provider needs";
  return bad(std::move(subject), error.message, std::move(remedy));
}

Diagnosis::Check check_of_clock(const Words& words, std::chrono::milliseconds offset) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(offset).count();
  const std::string cloud = words.cloud;
  if (std::abs(seconds) < 60)
    return good("clock", "it differs from that of " + cloud + " by less than a minute");
  return bad("clock",
             "this machine's clock is " + std::to_string(std::abs(seconds)) + " s " +
                 (seconds > 0 ? "behind" : "ahead of") + " that of " + cloud +
                 "; requests are made with the time of " + cloud + " meanwhile",
             "set the clock, for example with chrony or systemd-timesyncd");
}

Diagnosis::Check nothing_to_launch(const Words& words) {
  return not_known(
      "launch configurations",
      "no pool has a launch configuration for this provider, so no image, network or quota was "
      "checked",
      std::string("name the provider in a worker configuration and give it a section `") +
          words.section + "`");
}

}  // namespace muster::cloud
