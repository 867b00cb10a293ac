// muster events: what happens, as it happens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/host_address.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {

struct EventOptions {
  HostOptions host;
  ViewOptions view;
  std::vector<std::string> kinds;
  std::string pool, provider, launch_config, worker;
  std::int64_t since = -1;  // behind this number; -1: the newest ones
  int last = 20;            // so many of the past
  bool follow = false, as_json = false;
};

// Without --follow: a page. With it: until Ctrl-C or SIGTERM, which end it cleanly; a lost
// connection is made again and goes on behind the event that was shown last.
void show_events(const EventOptions& options);

// One event for people.
std::string event_line(const json::object& event, const View& view);

}  // namespace muster::cli
