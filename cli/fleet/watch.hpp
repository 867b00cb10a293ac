// muster status --watch and muster queue --watch: what the host says, as it changes.
#pragma once

#include <functional>
#include <string>

#include <muster/error.hpp>
#include <muster/json.hpp>

#include "cli/fleet/actions.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {

// Until Ctrl-C or SIGTERM, which end it cleanly. On a terminal it draws one screen again and again;
// elsewhere it prints what there is and then a line for each change; with --json an object on each
// line. A host that cannot be reached is asked again.
void watch_status(const FleetOptions& options);

// Asks every second, until Ctrl-C or SIGTERM. A host that answered once is asked again while it
// cannot be reached. `drawn`: what it shows is drawn on a terminal.
void watch(bool drawn, const std::function<Result<void>()>& step);

// In place of what was drawn before, as much of it as the terminal has room for.
void draw(const std::string& screen);

// What the host said at one moment.
struct Snapshot {
  json::object status = {};
  json::array pools = {};    // those that are shown
  std::size_t others = 0;    // pools that are not
  json::array workers = {};  // of the shown pools
  json::array events = {};   // the newest last
};

// One screen of at most `rows` lines of at most `columns`. Pure.
std::string screen_of(const Snapshot& snapshot, std::size_t rows, std::size_t columns,
                      const View& view);

// "worker-manager/build: launching, 3 pending, 1 running: why". Pure.
std::string verdict_line(const json::object& pool, const View& view);

}  // namespace muster::cli
