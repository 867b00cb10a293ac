// One request on its way through the API, and the ways to answer it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/system/result.hpp>

#include "host/taskcluster_api/endpoints.hpp"
#include "host/taskcluster_api/parts.hpp"
#include "host/taskcluster_api/schemas.hpp"
#include "lib/http/router.hpp"

namespace muster::auth {
struct Caller;
}
namespace muster::fleet {
class Fleet;
struct Now;
}  // namespace muster::fleet

namespace muster::registration {
struct Refusal;
}

namespace muster::taskcluster_api {

// Why a request is refused: one of the API's codes, and a sentence.
struct Failure {
  // Not an aggregate: a text alone is an answer and no failure.
  Failure() : Failure("InternalServerError", "Internal Server Error") {}
  Failure(std::string_view of_code, std::string in_words,
          std::optional<std::chrono::seconds> wait = std::nullopt)
      : code(of_code), message(std::move(in_words)), retry_after(wait) {}

  std::string_view code;
  std::string message;
  std::optional<std::chrono::seconds> retry_after;
};

// The body of an answer, or why there is none.
using Answer = boost::system::result<std::string, Failure>;

Failure input_error(std::string message);
Failure not_found(std::string message);
Failure conflict(std::string message);
// What the fleet says, in the API's codes.
Failure to_failure(const Error& error);
Failure to_failure(const registration::Refusal& refusal);

int status_of(std::string_view code);

// What all calls share. Filled before the first and then only read.
struct Api {
  Parts parts;
  Schemas schemas;
  SteadyTime started{};
};

using Values = std::vector<std::pair<std::string, std::string>>;

// Lives until it is answered. THREADS: one after the other.
class Call {
 public:
  Call(std::shared_ptr<const Api> api, const Endpoint& endpoint, http::Request&& request,
       http::Reply reply);

  // All checks that the endpoint's description asks for, in their order. False: it was answered.
  bool passes_checks();

  // For scopes with names that only a handler knows. False: it was answered.
  bool authorize(const Values& values);

  const Api& api() const { return *api_; }
  const std::shared_ptr<const Api>& shared_api() const { return api_; }
  const Parts& parts() const { return api_->parts; }
  const http::Request& request() const { return request_; }
  const std::string& parameter(std::string_view name) const;
  std::optional<std::string_view> query(std::string_view name) const;
  const json::object& body() const { return payload_.as_object(); }
  // Of the body, which has passed its schema.
  std::string text(std::string_view name) const;
  // Empty: whoever it is has shown no credentials.
  std::string client_id() const;
  WorkerPoolId worker_pool_id() const { return WorkerPoolId(parameter("workerPoolId")); }

  void answer(std::string body) const;
  void fail(const Failure& failure, std::vector<http::Header> headers = {}) const;
  void finish(Answer answer) const;

 private:
  bool parse_body();
  bool check_parameters();
  bool parse_query();
  bool check_query();
  bool check_input();
  bool authenticate();
  json::value shown_payload() const;

  std::shared_ptr<const Api> api_;
  const Endpoint& endpoint_;
  http::Request request_;
  http::Reply reply_;
  Values parameters_, query_;
  json::value payload_;
  bool unreadable_ = false;  // the body is no JSON
  std::shared_ptr<const auth::Caller> caller_;
};

using CallPtr = std::shared_ptr<Call>;

// Answered from the state of this moment, without waiting.
void look(const CallPtr& call, std::function<Answer(const fleet::Fleet&, fleet::Now)> look);
// Answered when what was changed is durable; at once if nothing can be.
void change(const CallPtr& call, std::function<Answer(fleet::Fleet&, fleet::Now)> change);
// On a thread that may wait.
void later(const CallPtr& call, std::function<void()> work);

// Whether the fleet is there and can change anything; if not, it was answered.
bool can_change(const CallPtr& call);

}  // namespace muster::taskcluster_api
