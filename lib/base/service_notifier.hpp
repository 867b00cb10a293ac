// What systemd is told about the service (Type=notify). Without systemd, that is without
// NOTIFY_SOCKET in the environment, every call does nothing.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace muster {

// THREADS: any. No call waits: they send one datagram each.
class ServiceNotifier {
 public:
  void ready(const std::string& status) const;
  void reloading() const;  // ready() ends it
  void stopping(const std::string& status) const;
  void alive() const;  // the watchdog's ping

  // How often alive() must be called at least; empty if systemd does not ask for it (WatchdogSec=).
  std::optional<std::chrono::milliseconds> watchdog_interval() const;
};

}  // namespace muster
