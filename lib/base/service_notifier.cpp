#include "lib/base/service_notifier.hpp"

#include <algorithm>
#include <time.h>

#include <systemd/sd-daemon.h>

namespace muster {
namespace {

// One line: a newline would begin another assignment.
std::string status_line(std::string status) {
  std::replace(status.begin(), status.end(), '\n', ' ');
  return "\nSTATUS=" + status;
}

}  // namespace

void ServiceNotifier::ready(const std::string& status) const {
  ::sd_notify(0, ("READY=1" + status_line(status)).c_str());
}

void ServiceNotifier::reloading() const {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);  // Type=notify-reload wants to know when it began
  const long long microseconds = now.tv_sec * 1'000'000LL + now.tv_nsec / 1000;
  ::sd_notify(0, ("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(microseconds)).c_str());
}

void ServiceNotifier::stopping(const std::string& status) const {
  ::sd_notify(0, ("STOPPING=1" + status_line(status)).c_str());
}

void ServiceNotifier::alive() const {
  ::sd_notify(0, "WATCHDOG=1");
}

std::optional<std::chrono::milliseconds> ServiceNotifier::watchdog_interval() const {
  std::uint64_t microseconds = 0;
  if (::sd_watchdog_enabled(0, &microseconds) <= 0) return std::nullopt;
  return std::max(std::chrono::milliseconds(1), std::chrono::milliseconds(microseconds / 2 / 1000));
}

}  // namespace muster
