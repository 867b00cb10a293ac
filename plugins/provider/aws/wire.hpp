// Calls AWS's APIs over HTTP: the body by the model, the signature, the session that repeats, the
// errors by the table.
#pragma once

#include <memory>
#include <string>

#include "plugins/cloud/error_table.hpp"
#include "plugins/cloud/redaction.hpp"
#include "plugins/cloud/session.hpp"
#include "plugins/provider/aws/api.hpp"
#include "plugins/provider/aws/credentials.hpp"
#include "plugins/provider/aws/endpoint.hpp"
#include "plugins/provider/aws/model.hpp"

namespace muster::aws {

// THREADS: any.
class Wire {
 public:
  // `session` is borrowed.
  Wire(cloud::Session& session, Endpoints endpoints);

  // As Api::call. `credentials` gives those to sign with; nothing: the call is not signed, for the
  // few that need no signature.
  Result<json::object> call(const Call& call, CredentialsCache* credentials,
                            const Context& context);

  // The error by the table, without secrets.
  Error classify(const std::string& call, cloud::CloudError said, const std::string& region,
                 ErrorScope about = {}) const;

  // Knows the secrets in use: they appear in no error.
  cloud::Redactor& redactor() { return redactor_; }

 private:
  struct Sent;
  Result<http_client::Request> prepare(Sent& sent, Time server_time);
  cloud::Reading read(Sent& sent, const http_client::Response& response);
  cloud::Reading read_failure(const Sent& sent, const http_client::Response& response);
  Error strange_answer(const Sent& sent, const std::string& what) const;

  cloud::Session& session_;
  const Endpoints endpoints_;
  const Model model_;
  const cloud::ErrorTable errors_;
  cloud::Redactor redactor_;
};

}  // namespace muster::aws
