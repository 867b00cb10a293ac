// Which handler answers which request.
//
//   router.add("GET", "/api/muster/v1/plugins", now(list_plugins));
//   router.add("POST", "/api/muster/v1/plugins/{name}/rollback", later(workers, roll_back));
//
// Everything under /api asks the guard first, unless the route says Access::open.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/base/log.hpp"
#include "host/http/message.hpp"
#include "host/http/worker_threads.hpp"

namespace muster::http {

// Where a handler's answer goes. Copies stand for the same answer; the first one given counts. If
// the last copy goes away without an answer, the client gets a 500. THREADS: any, at any time.
class Reply {
 public:
  using Sink = std::function<void(Response&&)>;
  Reply(Sink sink, const Request& request);

  void operator()(Response response) const;

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

// Filled before the server starts and only read afterwards. THREADS: then any.
class Router {
 public:
  // Nothing, if the request may pass; else the answer that turns it away.
  using Guard = std::function<std::optional<Response>(const Request&)>;

  explicit Router(Log log, Guard guard = {}) : log_(std::move(log)), guard_(std::move(guard)) {}

  // `{name}` stands for one whole segment of the path. A pattern that is there already is a bug and
  // throws.
  void add(std::string method, std::string pattern, Handler handler,
           Access access = Access::guarded);

  // Answers every request: with the handler's answer, or 400, 401, 404, 405, or 500 if the handler
  // throws.
  void route(Request&& request, const Reply& reply) const;

 private:
  struct Route {
    std::string method, pattern;
    std::vector<std::string> segments;
    Handler handler;
    Access access;
  };

  bool turned_away(const Request& request, const Reply& reply) const;
  void answer_unknown(const Request& request, const Reply& reply,
                      const std::vector<std::string>& allowed) const;
  void run(const Route& route, Request&& request, const Reply& reply) const;

  Log log_;
  Guard guard_;
  std::vector<Route> routes_;
};

}  // namespace muster::http
