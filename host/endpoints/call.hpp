// One request on its way through an API, and the ways to answer it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/ids.hpp>
#include <muster/json.hpp>

#include "host/endpoints/endpoint.hpp"
#include "host/endpoints/query.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"
#include "lib/http/router.hpp"

namespace muster::auth {
class Authority;
struct Caller;
}  // namespace muster::auth
namespace muster::fleet {
class Service;
}
namespace muster::http {
class WorkerThreads;
}

namespace muster::endpoints {

// What every API needs of the host. All pointers are borrowed and must outlive the router's last
// answer.
struct Host {
  fleet::Service* fleet = nullptr;  // none: nothing works, because of `problem`
  std::string problem = {};
  const auth::Authority* authority = nullptr;
  http::WorkerThreads* workers = nullptr;  // for what waits for the store or for a provider
  std::shared_ptr<const Clock> clock;
  Log log = {};
};

// What the APIs do differently: their checks, and the form of their answers. Filled before the
// first call and then only read. THREADS: any.
class Api {
 public:
  virtual ~Api() = default;

  virtual const Host& host() const = 0;
  // Whether the router's guard checks credentials and scopes before the call is made.
  virtual http::Access access(const Endpoint& endpoint) const = 0;
  // Credentials, before a large body is read, where the router's guard does not check them. False:
  // the call was answered.
  virtual bool admit_head(Call&) const { return true; }
  // All checks that the endpoint's row asks for, in their order. False: the call was answered.
  virtual bool admit(Call& call) const = 0;
  virtual http::Response answer(const Call& call, std::string body) const = 0;
  virtual http::Response failure(const Call& call, const Failure& failure,
                                 std::vector<http::Header> headers) const = 0;
  // There is no fleet, or there is a fleet that cannot change anything now.
  virtual Failure no_fleet() const = 0;
};

using Values = std::vector<std::pair<std::string, std::string>>;

// Lives until it is answered. THREADS: one after the other.
class Call {
 public:
  Call(std::shared_ptr<const Api> api, const Endpoint& endpoint, http::Request&& request,
       http::Reply reply);

  // Whether the caller has all scopes of the row. A <name> in them is a parameter of the path, else
  // a text of the body, else a parameter of the query; a name that none of them has stands for all,
  // so that only a scope with a star is enough. False: it was answered.
  bool authorize();
  // The same check with other values for some names, for what the state and not the request says.
  // Nothing: the caller may. Only after authorize() or the router's guard.
  std::optional<Failure> refuse(const Values& values) const;
  // False: it was answered.
  bool authenticate();
  // The same without the body; signed_hash() is what that must have.
  bool authenticate_head();
  const std::string& signed_hash() const { return signed_hash_; }
  // The body is not what was signed, or the credentials are no good.
  void fail_authentication(const Error& error) const;

  const Api& api() const { return *api_; }
  const Host& host() const { return api_->host(); }
  const Endpoint& endpoint() const { return endpoint_; }
  const http::Request& request() const { return request_; }
  const Values& parameters() const { return parameters_; }
  const std::string& parameter(std::string_view name) const;
  const Query& query() const { return query_; }
  WorkerPoolId worker_pool_id() const { return WorkerPoolId(parameter("workerPoolId")); }
  // The body, which was parsed and has passed its schema.
  const json::object& body() const { return payload_.as_object(); }
  std::string text(std::string_view name) const;
  const json::value& payload() const { return payload_; }
  void set_payload(json::value payload) { payload_ = std::move(payload); }
  const std::shared_ptr<const auth::Caller>& caller() const { return caller_; }
  void set_caller(std::shared_ptr<const auth::Caller> caller) { caller_ = std::move(caller); }
  // Empty: the caller has shown no credentials.
  const std::string& client_id() const;

  void answer(std::string body) const;
  void fail(const Failure& failure, std::vector<http::Header> headers = {}) const;
  void finish(Answer answer) const;
  void respond(http::Response response) const;
  // The 500 for an exception: logs it, and tells nothing of it to the client.
  void fail_unexpectedly(std::string_view what) const;

 private:
  void count_refusal(const Failure& failure) const;
  std::string scope_value(std::string_view name, const Values& values) const;

  std::shared_ptr<const Api> api_;
  const Endpoint& endpoint_;
  http::Request request_;
  http::Reply reply_;
  Values parameters_;
  Query query_;
  json::value payload_;
  std::shared_ptr<const auth::Caller> caller_;
  std::string signed_hash_;
};

}  // namespace muster::endpoints
