#include "plugins/provider/aws/connection.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "lib/url/url.hpp"
#include "plugins/provider/aws/wire.hpp"

namespace muster::aws {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t shortest_role = 900, longest_role = 43'200;
constexpr std::size_t most_metadata_bytes = 64 << 10;

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

// Files are named by absolute paths: the plugin's working folder is the host's business.
std::string mistake_in_paths(const ConnectionSettings& settings) {
  const CredentialsSettings& credentials = settings.credentials;
  std::vector<std::pair<const char*, std::string>> paths = {
      {"caFile", settings.ca_file},
      {"credentials.configFile", credentials.config_file},
      {"credentials.credentialsFile", credentials.credentials_file}};
  if (credentials.static_keys)
    paths.push_back({"credentials.static.file", credentials.static_keys->file});
  if (credentials.web_identity)
    paths.push_back({"credentials.webIdentity.tokenFile", credentials.web_identity->token_file});
  for (const auto& [key, path] : paths)
    if (!path.empty() && !path.starts_with('/'))
      return std::string(key) + ": \"" + path + "\" is not an absolute path";
  return {};
}

std::string mistake_in(const ConnectionSettings& settings) {
  if (auto wrong = mistake_in_credentials(settings.credentials); !wrong.empty()) return wrong;
  if (auto wrong = mistake_in_paths(settings); !wrong.empty()) return wrong;
  for (const auto& [key, url] : settings.endpoints)
    if (const auto wrong = mistake_in_endpoint(key, url, settings.plain_http); !wrong.empty())
      return "endpoints." + key + ": " + wrong;
  if (settings.proxy && !settings.proxy->empty())
    if (const auto url = parse_http_url(*settings.proxy); !url)
      return url.error().code == url_has_user
                 ? "proxy: has a password in it, which would end up in logs; let the proxy know "
                   "this machine's address instead"
                 : "proxy: " + url.error().message;
  if (!(settings.timeout_seconds >= 0.1 && settings.timeout_seconds <= 600))
    return "timeoutSeconds: is not between 0.1 and 600";
  if (settings.max_answer_bytes < 1024 || settings.max_answer_bytes > (std::int64_t{1} << 30))
    return "maxAnswerBytes: is not between 1024 and 1073741824";
  return {};
}

// What calls rest on; the members are in the order in which they need each other.
class HttpApi final : public Api {
 public:
  HttpApi(ConnectionSettings settings, const std::string& region)
      : settings_(std::move(settings)),
        session_(transport_for(settings_), session_settings(settings_), cloud::real_timing()),
        metadata_(near_transport(),
                  {.attempts = 2, .timeout = 2s, .max_answer_bytes = most_metadata_bytes},
                  cloud::real_timing()),
        wire_(session_, Endpoints(settings_.endpoints)),
        credentials_(credentials_fetch(
            {.settings = settings_, .region = region, .wire = wire_, .metadata = metadata_})) {}

  Result<json::object> call(const Call& call, const Context& context) override {
    return wire_.call(call, &credentials_, context);
  }

  std::optional<std::chrono::milliseconds> clock_offset(const std::string& region) override {
    const auto url = Endpoints(settings_.endpoints).url("ec2", region);
    if (!url) return std::nullopt;
    return session_.clock_offset(*url);
  }

 private:
  static std::shared_ptr<cloud::Transport> transport_for(const ConnectionSettings& settings) {
    return std::make_shared<cloud::PooledTransport>(
        http_client::Settings{.max_concurrent = 1,
                              .max_body_bytes = static_cast<std::size_t>(settings.max_answer_bytes),
                              .ca_file = settings.ca_file,
                              .proxy = settings.proxy});
  }
  static std::shared_ptr<cloud::Transport> near_transport() {
    return std::make_shared<cloud::PooledTransport>(
        http_client::Settings{.max_concurrent = 1,
                              .max_body_bytes = most_metadata_bytes,
                              .connect_timeout = 1s,
                              .proxy = ""});
  }
  static cloud::SessionSettings session_settings(const ConnectionSettings& settings) {
    return {.timeout = std::chrono::milliseconds(
                static_cast<std::int64_t>(settings.timeout_seconds * 1000)),
            .max_answer_bytes = static_cast<std::size_t>(settings.max_answer_bytes)};
  }

  const ConnectionSettings settings_;
  cloud::Session session_, metadata_;
  Wire wire_;
  CredentialsCache credentials_;
};

}  // namespace

Result<ConnectionSettings> read_connection(const json::object& config) {
  ConnectionSettings settings;
  codec::Reader reader;
  reader.read(json::value(config), settings);
  if (reader.failed()) return Error::invalid(reader.mistake());
  if (const std::string wrong = mistake_in(settings); !wrong.empty()) return Error::invalid(wrong);
  return settings;
}

std::unique_ptr<Api> connect(const ConnectionSettings& settings, const std::string& region) {
  return std::make_unique<HttpApi>(settings, region);
}

}  // namespace muster::aws
