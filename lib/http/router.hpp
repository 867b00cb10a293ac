// Which handler answers which request.
//
//   router.add("GET", "/api/muster/v1/plugins", now(list_plugins));
//   router.add("POST", "/api/muster/v1/plugins/{name}/rollback", later(workers, roll_back));
//
// Everything under /api asks the guard first, unless the route says Access::open. HEAD is answered
// as GET, and OPTIONS, which browsers ask first, with the methods that there are.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/log.hpp"
#include "lib/http/message.hpp"
#include "lib/http/request_parser.hpp"
#include "lib/http/route_table.hpp"
#include "lib/http/worker_threads.hpp"

namespace muster::http {

// Where a handler's answer goes. Copies stand for the same answer; the first one given counts. If
// the last copy goes away without an answer, the client gets a 500. THREADS: any, at any time.
class Reply {
 public:
  using Sink = std::function<void(Response&&)>;
  Reply(Sink sink, const Request& request);

  void operator()(Response response) const;
  // Who asked, for the access log. Before any other copy of this is used.
  void asked_by(std::string client_id) const;
  // Method, path and id of the request that it answers.
  const Request& about() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Runs on a thread that serves other connections too: it must not wait for anything.
using Handler = std::function<void(Request&&, const Reply&)>;

// For functions that answer from memory, at once.
Handler now(std::function<Response(const Request&)> answer);
// For functions that wait (for a plugin, a file): they run on a worker thread. If all workers are
// busy and the line is long, the client gets a 503.
Handler later(WorkerThreads& workers, std::function<Response(const Request&)> answer);

enum class Access { guarded, open };

// What a route asks of a request before its body is read.
struct RouteRules {
  // An access is enough.
  RouteRules(Access of_route = Access::guarded) : access(of_route) {}

  Access access;
  std::uint64_t max_body_bytes = 0;  // 0: as many as the server's limits allow
  // For routes that check credentials by themselves, in place of the guard. Asked when the body may
  // be larger than that of a caller without credentials; sets the caller, or has the answer that
  // turns the request away.
  std::function<std::optional<Response>(Request&)> check_head = {};
};

// Filled before the server starts and only read afterwards. THREADS: then any.
class Router {
 public:
  // Asked before the body is read. Nothing, if the request may pass, and then it says who asks;
  // else the answer that turns it away.
  using Guard = std::function<std::optional<Response>(Request&)>;

  explicit Router(Log log, Guard guard = {}) : log_(std::move(log)), guard_(std::move(guard)) {}

  // `{name}` stands for one whole segment of the path, `{*name}` for one or more, which are joined
  // by "/" after each was decoded. If several patterns fit, the one that was added first answers.
  // A pattern that is there already is a bug and throws.
  void add(std::string method, std::string pattern, Handler handler, RouteRules rules = {});
  // Answers all that has no route and begins with `prefix`, in place of the usual 400, 401, 404
  // and 405. The longest prefix counts. The guard is not asked.
  void fallback(std::string prefix, Handler handler);

  // Which route answers a request. Names of routes are their patterns.
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  struct Found {
    std::size_t route = none;
    std::string allowed = {};  // "GET, POST": what the path would answer to
    // What is wrong with the path or the query, whatever is there. Then there is no route.
    std::string_view problem = {};
  };
  // Sets the request's route and path_parameters.
  Found find(Request& request) const;

  // What becomes of a request whose head is there.
  struct Admission {
    std::optional<Response> refusal = {};  // 401, 403, 429: the body need not be read
    std::uint64_t max_body_bytes = 0;
    bool known_caller = false;  // it has shown valid credentials
  };
  // Asks the guard. `announced` is the length of the body that still comes, if it is known.
  Admission admit(const Found& found, Request& request, std::optional<std::uint64_t> announced,
                  const RequestLimits& limits) const;
  // Answers every request that was admitted: with the handler's answer, or 400, 401, 404, 405, or
  // 500 if the handler throws. Large bodies are read on other threads: see read_large_bodies_on().
  void answer(const Found& found, Request&& request, const Reply& reply) const;
  void route(Request&& request, const Reply& reply) const;

  // Requests with a body of more than `large_body` bytes are handled there, so that reading one
  // keeps no other request waiting. Borrowed; before the first request.
  static constexpr std::size_t large_body = 64 * 1024;
  void read_large_bodies_on(WorkerThreads& threads) { large_bodies_ = &threads; }

  std::size_t size() const { return routes_.size(); }
  const std::string& method(std::size_t route) const { return routes_[route].method; }
  const std::string& pattern(std::size_t route) const { return routes_[route].pattern; }
  Access access(std::size_t route) const { return routes_[route].rules.access; }

 private:
  struct Route {
    std::string method, pattern;
    PathPattern path;
    Handler handler;
    RouteRules rules;
  };
  struct Fallback {
    std::string prefix;
    Handler handler;
  };

  std::optional<Response> check_head(const Found& found, Request& request, bool small) const;
  bool has_fallback(const Request& request) const;
  void answer_here(const Found& found, Request&& request, const Reply& reply) const;
  void answer_large(const Found& found, Request&& request, const Reply& reply) const;
  void answer_unknown(const Found& found, Request&& request, const Reply& reply) const;
  void run(const Handler& handler, const std::string& name, Request&& request,
           const Reply& reply) const;

  Log log_;
  Guard guard_;
  std::vector<Route> routes_;
  RouteTable table_;
  std::vector<Fallback> fallbacks_;  // the longest prefix first
  WorkerThreads* large_bodies_ = nullptr;
};

}  // namespace muster::http
