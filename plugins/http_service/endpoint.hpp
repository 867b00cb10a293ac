// Where an operator's HTTP service is and how it is to be asked: the part of a plugin's
// configuration that says so, its schema and its checks. Nothing here does any I/O.
#pragma once

#include <string>

#include <muster/fields.hpp>
#include <muster/json.hpp>

namespace muster::http_service {

struct Endpoint {
  std::string url;                     // without a slash at its end
  std::string token_file = {};         // read for each call, so that a token can be replaced
  std::string token_environment = {};  // or the name of a variable that holds it
  std::string ca_file = {};            // trusted instead of the system's certificates
  std::string proxy = {};              // none unless given, whatever the environment says
  double timeout_seconds = 0;
  std::int64_t max_answer_bytes = 16 << 20;
  bool plain_http = false;  // allow http:// to other machines

  static constexpr auto fields(auto visit) {
    return visit(required("url", &Endpoint::url), optional("tokenFile", &Endpoint::token_file),
                 optional("tokenEnvironment", &Endpoint::token_environment),
                 optional("caFile", &Endpoint::ca_file), optional("proxy", &Endpoint::proxy),
                 optional("timeoutSeconds", &Endpoint::timeout_seconds),
                 optional("maxAnswerBytes", &Endpoint::max_answer_bytes),
                 optional("plainHttp", &Endpoint::plain_http));
  }
};

// The schema's properties, for a plugin's configSchema.
json::object endpoint_properties(double default_timeout_seconds);

// `invalid` names the key. Refuses what would send secrets in clear text over a network.
Result<Endpoint> read_endpoint(const json::object& config, double default_timeout_seconds);

}  // namespace muster::http_service
