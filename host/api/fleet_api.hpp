// The paths under /api/muster/v1 that are about the fleet, and how they are written.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "host/api/query.hpp"
#include "host/wiring/fleet_runtime.hpp"
#include "lib/http/answer.hpp"
#include "lib/http/router.hpp"

namespace muster {

// The fleet, or why there is none: a store that cannot be used stops the deciding, not the host.
struct FleetAccess {
  FleetRuntime* fleet = nullptr;  // borrowed; outlives the server
  std::string problem = {};
};

// For the status document and for readiness: {"state": "deciding"|"readOnly"|"off", "reason"}.
// `fleet` is the state to look at; null if there is none.
json::object fleet_summary(const FleetAccess& access, const fleet::Fleet* fleet);

}  // namespace muster

namespace muster::api {

inline constexpr const char* base_path = "/api/muster/v1/";

// Adds paths below base_path. `known` are the parameters of the query; one with "[]" behind it may
// be repeated. Anything else is a 400, and without a fleet everything is a 503.
class Paths {
 public:
  Paths(http::Router& router, http::WorkerThreads& workers, const FleetAccess& access)
      : router_(router), workers_(workers), access_(access) {}

  // Answers from the fleet's state: short, never waits.
  using View = http::Response (*)(const http::Request&, const Query&, const fleet::Fleet&,
                                  fleet::Now);
  void view(const std::string& path, std::vector<std::string_view> known, View answer);

  // Waits for the store, a plugin or a decision: on a worker thread.
  using Work = http::Response (*)(const http::Request&, const Query&, FleetRuntime&);
  void work(const char* method, const std::string& path, std::vector<std::string_view> known,
            Work answer);

  // Reads the request at once, and answers with a document when what it changes is durable; no
  // thread waits.
  using Answering = std::function<Result<json::value>(fleet::Fleet&, fleet::Now)>;
  using AnsweringRead = boost::system::result<Answering, http::Response>;
  using ReadAnswering = AnsweringRead (*)(const http::Request&, const Query&);
  void ask(const char* method, const std::string& path, std::vector<std::string_view> known,
           ReadAnswering read);

  // Does all by itself.
  using Handle = void (*)(const FleetAccess&, http::Request&&, const http::Reply&);
  void handle(const char* method, const std::string& path, Handle by);

  // Reads the request at once and answers when what it changes is durable; no thread waits.
  using Change = std::function<Result<void>(fleet::Fleet&, fleet::Now)>;
  using ChangeRead = boost::system::result<Change, http::Response>;
  using ReadChange = ChangeRead (*)(const http::Request&);
  void change(const char* method, const std::string& path, ReadChange read);

 private:
  using ReadPosted = std::function<AnsweringRead(const http::Request&, const Query&)>;
  void post(const char* method, const std::string& path, std::vector<std::string_view> known,
            ReadPosted read);

  http::Router& router_;
  http::WorkerThreads& workers_;
  const FleetAccess access_;
};

// All of the following.
void add_fleet_paths(http::Router& router, http::WorkerThreads& workers, const FleetAccess& access);
void add_fleet_views(Paths& paths);          // pools, workers, launch configurations, holds
void add_journal_paths(Paths& paths);        // decisions, errors
void add_fleet_changes(Paths& paths);        // what operators may do
void add_worker_reports(Paths& paths);       // what workers say of themselves
void add_queue_requests(Paths& paths);       // who needs a worker
void add_queue_teams(Paths& paths);          // teams and their pools, and what waits
void add_why(Paths& paths);                  // why something waits, and for how long
void add_configuration_paths(Paths& paths);  // worker configurations, providers, demand

// The first key of the body that the struct does not have; empty if there is none.
template <class Struct>
std::string unknown_key(const json::object& body) {
  for (const auto& [key, value] : body) {
    const auto known =
        Struct::fields([&key = key](const auto&... field) { return ((field.name == key) || ...); });
    if (!known) return key;
  }
  return {};
}

// The answer to a parameter or body that is wrong.
http::Response refusal(const http::Request& request, const Error& error);
WorkerPoolId pool_of(const http::Request& request);
fleet::WorkerName worker_of(const http::Request& request);
http::Response no_pool(const http::Request& request);

}  // namespace muster::api
