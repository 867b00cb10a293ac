#include "plugins/provider/google/connection.hpp"

#include <muster/codec.hpp>

#include "plugins/base/schema_parts.hpp"
#include "plugins/provider/google/access_token.hpp"
#include "plugins/provider/google/wire.hpp"

namespace muster::google {
namespace {

constexpr std::int64_t longest_impersonation = 43'200;

bool is_service_account(std::string_view text) {
  const auto at = text.find('@');
  return at != text.npos && at > 0 && text.find('.', at) != text.npos && text.size() <= 300 &&
         text.find_first_of(" /?#%") == text.npos;
}

std::string mistake_in(const CredentialsSettings& settings) {
  if (!settings.file.empty() && settings.metadata)
    return "credentials: keep one of file and metadata";
  if (auto wrong = cloud::mistake_in_path("credentials.file", settings.file); !wrong.empty())
    return wrong;
  if (!settings.impersonate) return {};
  std::vector<std::string> accounts = settings.impersonate->delegates;
  accounts.push_back(settings.impersonate->service_account);
  for (const std::string& account : accounts)
    if (!is_service_account(account))
      return "credentials.impersonate: \"" + account +
             "\" is no address of a service account; they are like "
             "muster@my-project.iam.gserviceaccount.com";
  const std::int64_t lifetime = settings.impersonate->lifetime_seconds;
  if (lifetime < 60 || lifetime > longest_impersonation)
    return "credentials.impersonate.lifetimeSeconds: is not between 60 and 43200";
  return {};
}

// What calls rest on; the members are in the order in which they need each other.
class HttpApi final : public Api {
 public:
  HttpApi(ConnectionSettings settings, const std::string& project)
      : settings_(std::move(settings)),
        endpoints_(settings_.reach.endpoints),
        timing_(cloud::real_timing()),
        session_(cloud::transport_for(settings_.reach),
                 cloud::session_settings_for(settings_.reach), timing_),
        metadata_(cloud::near_transport(), cloud::near_session_settings(), timing_),
        wire_(session_, endpoints_, project),
        tokens_(token_fetch({.settings = settings_,
                             .endpoints = endpoints_,
                             .session = session_,
                             .metadata = metadata_,
                             .redactor = wire_.redactor()})) {}

  Result<json::object> call(const Call& call, const Context& context) override {
    return wire_.call(call, &tokens_, context);
  }
  bool pause(std::chrono::milliseconds time, const Context& context) override {
    return timing_.wait(time, context);
  }
  std::optional<std::chrono::milliseconds> clock_offset() override {
    return session_.clock_offset(endpoints_.url("compute"));
  }

 private:
  const ConnectionSettings settings_;
  const Endpoints endpoints_;
  const cloud::Timing timing_;
  cloud::Session session_, metadata_;
  Wire wire_;
  TokenCache tokens_;
};

}  // namespace

json::object connection_properties() {
  json::object properties = cloud::reach_properties(
      "Other addresses of services (Private Service Connect, emulators): compute, oauth2, certs, "
      "iamcredentials, sts, cloudbilling, cloudresourcemanager, metadata",
      "An http(s) URL without a path");
  json::object lifetime = of_type("integer", "How long a token lasts; renewed before its end");
  lifetime["minimum"] = 60;
  lifetime["maximum"] = longest_impersonation;
  lifetime["default"] = Impersonation{}.lifetime_seconds;
  properties["credentials"] = table_schema(
      "At most one of file and metadata. None of them: the default chain "
      "(GOOGLE_APPLICATION_CREDENTIALS, gcloud's file, the metadata server)",
      {{"file", text_schema("Absolute path of a file that only its owner may read: the key of a "
                            "service account, a workload identity (external_account), or a login "
                            "of gcloud (authorized_user)")},
       {"metadata", of_type("boolean", "The service account of the machine that muster runs on")},
       {"impersonate",
        table_schema(
            "A service account whose tokens are made with the credentials that the other keys "
            "give",
            {{"serviceAccount", text_schema("muster@my-project.iam.gserviceaccount.com")},
             {"delegates",
              json::object{{"type", "array"},
                           {"items", text_schema("A service account of the chain between")},
                           {"description", "Service accounts in between, in their order"}}},
             {"lifetimeSeconds", std::move(lifetime)}},
            {"serviceAccount"})}});
  return properties;
}

Result<ConnectionSettings> read_connection(const json::object& config) {
  ConnectionSettings settings;
  if (const json::value* given = config.if_contains("credentials")) {
    codec::Reader reader;
    reader.read(*given, settings.credentials);
    if (reader.failed()) return Error::invalid("credentials: " + reader.mistake());
  }
  if (const std::string wrong = mistake_in(settings.credentials); !wrong.empty())
    return Error::invalid(wrong);
  auto reach = cloud::read_reach(config, mistake_in_endpoint);
  if (!reach) return reach.error();
  settings.reach = std::move(*reach);
  return settings;
}

std::unique_ptr<Api> connect(const ConnectionSettings& settings, const std::string& project) {
  return std::make_unique<HttpApi>(settings, project);
}

}  // namespace muster::google
