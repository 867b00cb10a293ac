// Why a request is where it is: one answer out of what is known about it.
#pragma once

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/context.hpp>
#include <muster/ids.hpp>

namespace muster::queue {

enum class VerdictKind { placed, launching, waiting, blocked };
constexpr auto enum_names(VerdictKind) {
  return std::array<std::string_view, 4>{"placed", "launching", "waiting", "blocked"};
}

struct Verdict {
  VerdictKind kind = VerdictKind::waiting;
  std::string text;                           // in words, with numbers
  std::optional<std::int64_t> position = {};  // among the waiting requests of its line; 1 is next
  std::optional<Time> eta = {};
  // Of one that is blocked: what blocks it ("teamLimit", "noWorker", "pool"), whom, until when if
  // that is known, and who can change it.
  std::string cause = {}, scope = {};
  std::optional<Time> until = {};
  std::string who = {};
};

// What is known of a pool whose workers could serve the request.
struct Outlook {
  WorkerPoolId pool = {};
  std::int64_t launching = 0;       // capacity that is on its way
  std::optional<Time> ready = {};   // when the next of it is expected
  std::int64_t largest_worker = 0;  // the capacity of the largest that it can launch; 0: none
  bool blocked = false;             // it cannot grow now
  std::string text = {};            // what it says of itself
  std::optional<Time> until = {};
  std::string owner = {};
};

// All that the verdict about one request rests on.
struct Situation {
  bool held = false;
  std::string worker = {};  // that it has, or that is reserved for it
  std::int64_t worker_number = 0;
  std::string team = {};
  std::int64_t needs = 1;  // of "active-task"
  std::int64_t position = 1;
  std::int64_t lines = 1;       // that wait for the same workers, its own included
  std::int64_t candidates = 0;  // workers that it may use
  bool large_enough = false;    // one of them has all that it needs, when it is empty
  std::int64_t team_held = 0, team_limit = 0;
  std::chrono::milliseconds interval{};  // between two grants on these workers; 0: not known
  std::vector<Outlook> outlooks = {};    // added by whoever knows the pools
};

// Pure; exactly one verdict for every situation.
Verdict judge(const Situation& situation, Time now);

}  // namespace muster::queue
