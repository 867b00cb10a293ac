// How an instance of the provider reaches AWS: the part of its configuration that says so.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <muster/fields.hpp>
#include <muster/json.hpp>

#include "plugins/cloud/machines/reach.hpp"
#include "plugins/provider/aws/api.hpp"

namespace muster::aws {

struct AssumeRole {
  std::string arn;
  std::string external_id = {};
  std::string session_name = "muster";
  std::int64_t duration_seconds = 3600;

  static constexpr auto fields(auto visit) {
    return visit(required("arn", &AssumeRole::arn),
                 optional("externalId", &AssumeRole::external_id),
                 optional("sessionName", &AssumeRole::session_name),
                 optional("durationSeconds", &AssumeRole::duration_seconds));
  }
};

struct WebIdentity {
  std::string role_arn, token_file;
  std::string session_name = "muster";

  static constexpr auto fields(auto visit) {
    return visit(required("roleArn", &WebIdentity::role_arn),
                 required("tokenFile", &WebIdentity::token_file),
                 optional("sessionName", &WebIdentity::session_name));
  }
};

// Where static keys are: in one file, or in environment variables of the plugin. There is no key
// for a secret itself.
struct StaticKeys {
  std::string file = {};  // as AWS's credentials file has them; the profile is `default`
  std::string access_key_id_environment = {}, secret_access_key_environment = {},
              session_token_environment = {};

  static constexpr auto fields(auto visit) {
    return visit(optional("file", &StaticKeys::file),
                 optional("accessKeyIdEnvironment", &StaticKeys::access_key_id_environment),
                 optional("secretAccessKeyEnvironment", &StaticKeys::secret_access_key_environment),
                 optional("sessionTokenEnvironment", &StaticKeys::session_token_environment));
  }
};

// At most one of profile, static and webIdentity; none of them: the default chain.
struct CredentialsSettings {
  std::string profile = {};
  std::optional<StaticKeys> static_keys = {};
  std::optional<WebIdentity> web_identity = {};
  std::optional<AssumeRole> assume_role = {};           // with what the others give
  std::string config_file = {}, credentials_file = {};  // instead of those in ~/.aws
  std::string metadata_endpoint = {};                   // instead of http://169.254.169.254

  static constexpr auto fields(auto visit) {
    return visit(optional("profile", &CredentialsSettings::profile),
                 optional("static", &CredentialsSettings::static_keys),
                 optional("webIdentity", &CredentialsSettings::web_identity),
                 optional("assumeRole", &CredentialsSettings::assume_role),
                 optional("configFile", &CredentialsSettings::config_file),
                 optional("credentialsFile", &CredentialsSettings::credentials_file),
                 optional("metadataEndpoint", &CredentialsSettings::metadata_endpoint));
  }
};

struct ConnectionSettings {
  CredentialsSettings credentials = {};
  // Endpoints are by service ("ec2") or by service and region ("ec2/us-east-1"). `{region}` in a
  // URL is replaced.
  cloud::ReachSettings reach = {};
};

// The schema's properties, for the provider's configSchema.
json::object connection_properties();

// The keys above of an instance's configuration; others are ignored. `invalid` names the key.
Result<ConnectionSettings> read_connection(const json::object& config);

// `region` is where STS is asked if a role is assumed. Does no I/O: credentials are fetched by the
// first call.
std::unique_ptr<Api> connect(const ConnectionSettings& settings, const std::string& region);

// Which implementation of credentials this plugin was built with, for `describe`: "built-in", or
// "AWS SDK for C++ 1.11.866".
std::string credentials_implementation();

}  // namespace muster::aws
