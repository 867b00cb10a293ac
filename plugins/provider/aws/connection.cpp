#include "plugins/provider/aws/connection.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "lib/url/url.hpp"
#include "plugins/provider/aws/wire.hpp"

namespace muster::aws {
namespace {

constexpr std::int64_t shortest_role = 900, longest_role = 43'200;

bool is_session_name(std::string_view name) {
  return name.size() >= 2 && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  std::string_view("_+=,.@-").find(c) != std::string_view::npos;
         });
}

bool is_role_arn(std::string_view arn) {
  return arn.starts_with("arn:") && arn.find(":role/") != arn.npos && arn.size() <= 2048;
}

std::string mistake_in_role(const std::string& arn, const std::string& session_name) {
  if (!is_role_arn(arn))
    return "\"" + arn + "\" is no ARN of a role; they are like arn:aws:iam::123456789012:role/name";
  if (!is_session_name(session_name))
    return "sessionName: must have 2 to 64 letters, digits or characters of _+=,.@-";
  return {};
}

std::string mistake_in_static(const StaticKeys& keys) {
  const bool has_variables =
      !keys.access_key_id_environment.empty() || !keys.secret_access_key_environment.empty();
  if (keys.file.empty() == !has_variables)
    return "needs either file, or accessKeyIdEnvironment and secretAccessKeyEnvironment; a key "
           "itself is never written into a configuration";
  if (has_variables &&
      (keys.access_key_id_environment.empty() || keys.secret_access_key_environment.empty()))
    return "accessKeyIdEnvironment and secretAccessKeyEnvironment belong together";
  return {};
}

std::string mistake_in_credentials(const CredentialsSettings& settings) {
  const int sources = !settings.profile.empty() + settings.static_keys.has_value() +
                      settings.web_identity.has_value();
  if (sources > 1) return "credentials: keep one of profile, static and webIdentity";
  if (settings.static_keys)
    if (const auto wrong = mistake_in_static(*settings.static_keys); !wrong.empty())
      return "credentials.static: " + wrong;
  if (const auto& identity = settings.web_identity)
    if (const auto wrong = mistake_in_role(identity->role_arn, identity->session_name);
        !wrong.empty())
      return "credentials.webIdentity: " + wrong;
  if (const auto& role = settings.assume_role) {
    if (const auto wrong = mistake_in_role(role->arn, role->session_name); !wrong.empty())
      return "credentials.assumeRole: " + wrong;
    if (role->duration_seconds < shortest_role || role->duration_seconds > longest_role)
      return "credentials.assumeRole.durationSeconds: is not between 900 and 43200";
  }
  if (!settings.metadata_endpoint.empty())
    if (const auto url = parse_http_url(settings.metadata_endpoint); !url)
      return "credentials.metadataEndpoint: " + url.error().message;
  return {};
}

std::string mistake_in_paths(const CredentialsSettings& credentials) {
  std::vector<std::pair<const char*, std::string>> paths = {
      {"credentials.configFile", credentials.config_file},
      {"credentials.credentialsFile", credentials.credentials_file}};
  if (credentials.static_keys)
    paths.push_back({"credentials.static.file", credentials.static_keys->file});
  if (credentials.web_identity)
    paths.push_back({"credentials.webIdentity.tokenFile", credentials.web_identity->token_file});
  for (const auto& [key, path] : paths)
    if (auto wrong = cloud::mistake_in_path(key, path); !wrong.empty()) return wrong;
  return {};
}

// The one key of a configuration that says who muster is.
struct CredentialsDocument {
  CredentialsSettings credentials = {};
  static constexpr auto fields(auto visit) {
    return visit(optional("credentials", &CredentialsDocument::credentials));
  }
};

// What calls rest on; the members are in the order in which they need each other.
class HttpApi final : public Api {
 public:
  HttpApi(ConnectionSettings settings, const std::string& region)
      : settings_(std::move(settings)),
        session_(cloud::transport_for(settings_.reach),
                 cloud::session_settings_for(settings_.reach), cloud::real_timing()),
        metadata_(cloud::near_transport(), cloud::near_session_settings(), cloud::real_timing()),
        wire_(session_, Endpoints(settings_.reach.endpoints)),
        credentials_(
            credentials_fetch(
                {.settings = settings_, .region = region, .wire = wire_, .metadata = metadata_}),
            {.name = "the session of AWS's credentials"}) {}

  Result<json::object> call(const Call& call, const Context& context) override {
    return wire_.call(call, &credentials_, context);
  }

  std::optional<std::chrono::milliseconds> clock_offset(const std::string& region) override {
    const auto url = Endpoints(settings_.reach.endpoints).url("ec2", region);
    if (!url) return std::nullopt;
    return session_.clock_offset(*url);
  }

 private:
  const ConnectionSettings settings_;
  cloud::Session session_, metadata_;
  Wire wire_;
  CredentialsCache credentials_;
};

}  // namespace

Result<ConnectionSettings> read_connection(const json::object& config) {
  CredentialsDocument read;
  codec::Reader reader;
  reader.read(json::value(config), read);
  if (reader.failed()) return Error::invalid(reader.mistake());
  for (const auto& wrong :
       {mistake_in_credentials(read.credentials), mistake_in_paths(read.credentials)})
    if (!wrong.empty()) return Error::invalid(wrong);
  auto reach = cloud::read_reach(config, mistake_in_endpoint);
  if (!reach) return reach.error();
  return ConnectionSettings{std::move(read.credentials), std::move(*reach)};
}

std::unique_ptr<Api> connect(const ConnectionSettings& settings, const std::string& region) {
  return std::make_unique<HttpApi>(settings, region);
}

}  // namespace muster::aws
