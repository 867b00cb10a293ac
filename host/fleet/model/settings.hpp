// The numbers of the fleet that an operator may change.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>

#include <muster/json.hpp>

#include "host/outcome_health/settings.hpp"
#include "host/queue/model.hpp"

namespace muster::fleet {

struct Settings {
  std::chrono::milliseconds poll =
      std::chrono::seconds(60);  // a pool is looked at so often without a cause
  std::chrono::milliseconds decision_gap =
      std::chrono::milliseconds(250);  // between two looks, unless demand changed
  std::chrono::milliseconds list_every = std::chrono::seconds(60);
  std::chrono::milliseconds list_soon =
      std::chrono::seconds(5);  // while a launch's fate is not known
  std::chrono::milliseconds notices_every = std::chrono::seconds(10);
  // After a start, nobody is stopped because of time for so long: workers could not reach the host.
  // After another time in which the host could not hear, or a jump of the clock: for as long as
  // that lasted, and this at most.
  std::chrono::milliseconds grace = std::chrono::minutes(10);
  std::chrono::milliseconds clock_jump = std::chrono::seconds(1);  // what counts as one
  // A launch without an answer still counts against the limits, but after this no longer as
  // capacity that is on its way: others may be launched for the demand.
  std::chrono::milliseconds lost_after = std::chrono::minutes(2);
  // And it is given up no earlier than that, if no listing shows it: an effect may be late.
  std::chrono::milliseconds give_up_after = std::chrono::minutes(5);
  // That of a host that died, after the start of this one: its calls died with it.
  std::chrono::milliseconds give_up_older_after = std::chrono::seconds(15);
  std::chrono::milliseconds after_credentials = std::chrono::minutes(15);  // for outdated workers
  std::chrono::milliseconds drain_grace =
      std::chrono::minutes(1);  // to end by itself, for an idle worker
  std::chrono::milliseconds terminate_again = std::chrono::minutes(1);
  std::chrono::milliseconds stopped_kept = std::chrono::hours(24);
  std::chrono::milliseconds journal_kept = std::chrono::hours(24 * 7);
  std::chrono::milliseconds events_kept = std::chrono::hours(24 * 7);
  // Of the lead, where several hosts share a store: the least that this start may have.
  std::int64_t least_epoch = 0;
  // The store lost rows: what a provider lists is taken in before anything is launched there, or
  // the same workers would be started twice.
  bool list_before_launches = false;
  std::int64_t launch_attempts = 3;  // with the same key, before a listing decides
  std::string default_strategy = "classic";
  outcome_health::Settings outcomes = {};
  queue::Settings queue = {};
  // What the file `teams_origin` says of teams: known before the first worker is handed out.
  std::map<queue::TeamId, queue::TeamNumbers> teams = {};
  std::string teams_origin = {};
  json::object registration = {};  // what workers need to find the host
  // For tests: called before a pool is reviewed. What it throws is a bug in a decision about it.
  std::function<void(const WorkerPoolId&)> before_review = {};
};

}  // namespace muster::fleet
