// Calls Google's APIs over HTTP: the path by Google's own description, the token, the session that
// repeats, the errors by the table.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "plugins/cloud/error_table.hpp"
#include "plugins/cloud/redaction.hpp"
#include "plugins/cloud/session.hpp"
#include "plugins/provider/google/access_token.hpp"
#include "plugins/provider/google/api.hpp"

namespace muster::google {

// One call of methods.json or other_methods.json.
struct Method {
  std::string service, verb, path;
  std::vector<std::string> query;
  bool only_reads = false;
  bool is_public = false;  // needs no token
};

// THREADS: any.
class Wire {
 public:
  // `session` and `endpoints` are borrowed.
  Wire(cloud::Session& session, const Endpoints& endpoints, std::string project);

  // As Api::call. `tokens` is borrowed for the call.
  Result<json::object> call(const Call& call, TokenCache* tokens, const Context& context);

  // Knows the secrets in use: they appear in no error.
  cloud::Redactor& redactor() { return redactor_; }

 private:
  struct Sent;
  Result<std::string> url_of(const Call& call, const Method& method) const;
  Result<http_client::Request> prepare(Sent& sent) const;
  cloud::Reading read(Sent& sent, const http_client::Response& response) const;
  cloud::Reading read_failure(const Sent& sent, const http_client::Response& response) const;
  Error strange_answer(const Sent& sent, const std::string& what) const;

  cloud::Session& session_;
  const Endpoints& endpoints_;
  const std::string project_;
  std::map<std::string, Method> methods_;
  const cloud::ErrorTable errors_;
  mutable cloud::Redactor redactor_;
};

}  // namespace muster::google
