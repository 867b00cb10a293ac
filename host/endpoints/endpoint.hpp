// An endpoint of either API, as one row of a table. Its route, the checks before its handler runs,
// its scopes, and what the served descriptions say of it all come from the row, so that they
// cannot contradict each other.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "host/endpoints/audit.hpp"
#include "host/endpoints/failure.hpp"
#include "host/endpoints/pattern.hpp"
#include "host/endpoints/scopes.hpp"

namespace muster::fleet {
class Fleet;
struct Now;
}  // namespace muster::fleet

namespace muster::endpoints {

class Call;
using CallPtr = std::shared_ptr<Call>;

// -------------------------------------------------------------------------------------------------
// Handlers. They run after all checks of the row. An exception that one of them throws, on whatever
// thread, is answered with a 500.

// Answers from memory, at once.
using AnswerNow = Answer (*)(const Call&);
// Answers from the fleet's state. Short, and must not wait: nothing is decided meanwhile.
using ReadFleet = Answer (*)(const Call&, const fleet::Fleet&, fleet::Now);
// Reads the request and says what to change. That runs on the fleet's thread, and its answer is
// given when the change is durable.
using FleetChange = std::function<Answer(fleet::Fleet&, fleet::Now)>;
using FleetChangeOrFailure = boost::system::result<FleetChange, Failure>;
using ChangeFleet = FleetChangeOrFailure (*)(const Call&);
// Waits for the store, a plugin or a decision, so it runs on a worker thread.
struct OnWorkerThread {
  Answer (*answer)(const Call&);
};
// The same, for what is only there with a fleet.
struct OnWorkerThreadWithFleet {
  Answer (*answer)(const Call&);
};
// Answers the call by itself, at once or later. Must not wait.
using AnswerByItself = void (*)(const CallPtr&);

using AnyHandler = std::variant<AnswerNow, ReadFleet, ChangeFleet, OnWorkerThread,
                                OnWorkerThreadWithFleet, AnswerByItself>;

// One of them; there is no default.
struct Handler : AnyHandler {
  Handler() = delete;
  using AnyHandler::AnyHandler;
};

// -------------------------------------------------------------------------------------------------
// The row

struct QueryParameter {
  std::string_view name;
  // The form of a value; null: a plain text, which the handler checks further.
  const Pattern* pattern = nullptr;
  // The name of the parameter's description in the OpenAPI document; empty: the name.
  std::string_view description = {};
  bool repeated = false;  // may be given more than once
  bool header = false;    // comes as a header, and is only described
};

// What the body of an error shows of the request's own.
enum class Payload { shown, omitted, secret_masked };

struct Endpoint {
  std::string_view name;    // "createWorkerPool"; unique in its API
  std::string_view method;  // "GET"
  std::string path;         // "/api/muster/v1/pools/{workerPoolId}"; {*name} also takes slashes
  Scopes scopes;
  Handler handler;
  std::vector<QueryParameter> query = {};
  std::string_view input = {};  // the schema of the body; empty: none is read
  bool input_required = true;
  std::string_view input_type = {};  // of a body that the handler reads as it is; then no `input`
  Audit audit = {};                  // required of all rows but GET
  // The largest body; 0: http.maxBodyBytes, or http.maxOpenBodyBytes without valid credentials.
  std::uint64_t max_body_bytes = 0;
  std::string_view output = {};  // the schema of the answer; empty: none
  int status = 200;              // of a good answer
  std::string_view content_type = "application/json";
  // The codes of failures that are its own; those of missing credentials and scopes follow from
  // `scopes`.
  std::vector<std::string_view> errors = {};
  std::string_view category = {};
  bool stable = true;
  bool described = true;  // false: not in the served description
  std::string_view title = {};
  std::string_view description = {};
  Payload payload = Payload::shown;
  bool colon_alias = false;          // old clients write a colon behind the worker pool
  bool handler_reads_query = false;  // the query is not checked before
  // Asked before anything of the request is read: a failure that it returns is the answer.
  std::optional<Failure> (*refuse_at_once)(const Call&) = nullptr;
  // Asked for a row that is audited: whether this call is no change that the audit log shows.
  bool (*leaves_no_audit_event)(const Call&) = nullptr;
  // Told when the checks have refused the request.
  void (*note_bad_request)(const Call&) = nullptr;

  // Whether all names in the scope are parameters of the path.
  bool knows_from_path(std::string_view scope) const;
  // Whether a scope names what only the body or the query says: it is checked when those are read.
  bool authorizes_by_request() const;
};

// The names of a path's parameters, in their order.
std::vector<std::string> parameters_of(const Endpoint& endpoint);
// The form that a value of the parameter must have, of the path or of the query. Each name in a
// path must be known to identifiers::pattern_of(): else throws std::logic_error.
const Pattern& pattern_of_path(std::string_view parameter);
const Pattern& pattern_of(const QueryParameter& parameter);

}  // namespace muster::endpoints
