// What the queue keeps in the store, one struct for each table.
#pragma once

#include <muster/fields.hpp>
#include <muster/json.hpp>

#include "host/queue/model.hpp"

namespace muster::queue {

struct RequestRow {
  static constexpr std::string_view table = "requests";
  static constexpr std::size_t key_columns = 1;
  std::int64_t number = 0;
  TeamId team;
  WorkerPoolId worker_pool_id;
  json::array tags;
  json::object resources;
  json::array strategies;
  std::int64_t priority = 0;
  std::string cache_key;
  std::string token;
  std::string client;
  std::int64_t heartbeat = 0;  // milliseconds, like the next one
  std::int64_t duration = 0;
  Time created{};
  std::optional<Time> deadline = {};
  RequestState state = RequestState::waiting;
  std::int64_t worker = 0;  // its number; 0: none
  bool confirmed = false;
  std::optional<Time> granted = {};
  std::optional<Time> until = {};
  std::optional<Time> ended = {};
  std::string reason = {};

  static constexpr auto fields(auto visit) {
    return visit(
        required("number", &RequestRow::number), required("team", &RequestRow::team),
        required("workerPoolId", &RequestRow::worker_pool_id), required("tags", &RequestRow::tags),
        required("resources", &RequestRow::resources),
        required("strategies", &RequestRow::strategies),
        required("priority", &RequestRow::priority), required("cacheKey", &RequestRow::cache_key),
        required("token", &RequestRow::token), required("client", &RequestRow::client),
        required("heartbeat", &RequestRow::heartbeat), required("duration", &RequestRow::duration),
        required("created", &RequestRow::created), required("deadline", &RequestRow::deadline),
        required("state", &RequestRow::state), required("worker", &RequestRow::worker),
        required("confirmed", &RequestRow::confirmed), required("granted", &RequestRow::granted),
        required("until", &RequestRow::until), required("ended", &RequestRow::ended),
        required("reason", &RequestRow::reason));
  }
};

// A team whose numbers an operator has set, or that has used something.
struct TeamRow {
  static constexpr std::string_view table = "teams";
  static constexpr std::size_t key_columns = 1;
  TeamId team;
  double weight = 1;
  std::int64_t max_held = 0;
  std::int64_t max_pending = 0;
  bool configured = false;
  double usage = 0;  // as it counted at that time
  Time used_at{};

  static constexpr auto fields(auto visit) {
    return visit(required("team", &TeamRow::team), required("weight", &TeamRow::weight),
                 required("maxHeld", &TeamRow::max_held),
                 required("maxPending", &TeamRow::max_pending),
                 required("configured", &TeamRow::configured), required("usage", &TeamRow::usage),
                 required("usedAt", &TeamRow::used_at));
  }
};

// What an operator has said of a pool; what files say is not here.
struct TeamPoolRow {
  static constexpr std::string_view table = "team_pools";
  static constexpr std::size_t key_columns = 1;
  WorkerPoolId worker_pool_id;
  json::array teams;
  Time created{};
  bool dedicated = true;
  json::array public_keys = {};

  static constexpr auto fields(auto visit) {
    return visit(required("workerPoolId", &TeamPoolRow::worker_pool_id),
                 required("teams", &TeamPoolRow::teams), required("created", &TeamPoolRow::created),
                 required("dedicated", &TeamPoolRow::dedicated),
                 required("publicKeys", &TeamPoolRow::public_keys));
  }
};

}  // namespace muster::queue
