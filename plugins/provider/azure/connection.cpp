#include "plugins/provider/azure/connection.hpp"

#include <algorithm>
#include <array>

#include <muster/codec.hpp>

#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/azure/documents.hpp"
#include "plugins/provider/azure/wire.hpp"

namespace muster::azure {
namespace {

constexpr std::size_t most_certificate_bytes = 64 << 10;
constexpr std::array<std::string_view, 4> endpoint_names = {"resourceManager", "login", "metadata",
                                                            "retailPrices"};

bool is_tenant(std::string_view text) {
  return !text.empty() && text.size() <= 128 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.';
  });
}

std::string mistake_in_credentials(const CredentialsSettings& settings) {
  const int sources = settings.client_secret.has_value() + settings.certificate.has_value() +
                      settings.managed_identity.has_value() +
                      settings.workload_identity.has_value();
  if (sources > 1)
    return "credentials: keep one of clientSecret, certificate, managedIdentity and "
           "workloadIdentity";
  if (const auto& secret = settings.client_secret)
    if (secret->file.empty() == secret->environment.empty())
      return "credentials.clientSecret: needs one of file and environment; a secret itself is "
             "never written into a configuration";
  return {};
}

std::string mistake_in_paths(const CredentialsSettings& credentials) {
  if (const auto& secret = credentials.client_secret)
    return cloud::mistake_in_path("credentials.clientSecret.file", secret->file);
  if (const auto& certificate = credentials.certificate)
    return cloud::mistake_in_path("credentials.certificate.file", certificate->file);
  if (const auto& workload = credentials.workload_identity)
    return cloud::mistake_in_path("credentials.workloadIdentity.tokenFile", workload->token_file);
  return {};
}

std::string mistake_in_endpoint(const std::string& key, const std::string& url, bool plain_http) {
  if (std::ranges::find(endpoint_names, key) == endpoint_names.end())
    return "there is no such service; known are resourceManager, login, metadata and retailPrices";
  // The metadata service has no https, and is on this machine's own link.
  return cloud::mistake_in_url(url, plain_http || key == "metadata");
}

std::string mistake_in(const ConnectionSettings& settings) {
  if (!settings.tenant.empty() && !is_tenant(settings.tenant))
    return "tenant: \"" + settings.tenant +
           "\" is no tenant; write its id, like 72f988bf-86f1-41af-91ab-2d7cd011db47, or its "
           "domain";
  if (!documents.read("clouds").as_object().contains(settings.cloud))
    return "cloud: \"" + settings.cloud + "\" is none of public, china and government";
  if (auto wrong = mistake_in_credentials(settings.credentials); !wrong.empty()) return wrong;
  return mistake_in_paths(settings.credentials);
}

std::string of_cloud(const std::string& cloud, const std::string& name) {
  const json::value clouds = documents.read("clouds");
  return cloud::text_of(clouds.at(cloud).as_object(), name);
}

// What calls rest on; the members are in the order in which they need each other.
class HttpApi final : public Api {
 public:
  explicit HttpApi(ConnectionSettings settings)
      : settings_(std::move(settings)),
        session_(cloud::transport_for(settings_.reach),
                 cloud::session_settings_for(settings_.reach), cloud::real_timing()),
        metadata_(cloud::near_transport(), cloud::near_session_settings(), cloud::real_timing()),
        wire_(session_, {.resource_manager = settings_.endpoint("resourceManager"),
                         .retail_prices = settings_.endpoint("retailPrices")}),
        tokens_([this](const Context& context) {
          return fetch_token({.settings = settings_,
                              .session = session_,
                              .metadata = metadata_,
                              .redactor = wire_.redactor()},
                             settings_.audience() + ".default", context);
        }) {}

  Result<Answer> call(const Call& call, const Context& context) override {
    return wire_.call(call, call.service == Service::resource_manager ? &tokens_ : nullptr,
                      context);
  }

  Result<std::string> fetch(const std::string& url, const Context& context) override {
    const auto answer = session_.run(
        {.api = "issuers",
         .name = "the certificate",
         .server = url,
         .repeatable = true,
         .prepare =
             [&](Time) { return Result<http_client::Request>(http_client::Request{.url = url}); },
         .read = [&](const http_client::Response& response) -> cloud::Reading {
           if (response.is_success() && response.body.size() <= most_certificate_bytes) return {};
           return {cloud::Reading::Next::done,
                   Error::transient(url + " answered with HTTP status " +
                                    std::to_string(response.status) + " and " +
                                    std::to_string(response.body.size()) + " bytes")};
         }},
        context);
    if (!answer) return answer.error();
    return answer->body;
  }

  std::optional<std::chrono::milliseconds> clock_offset() override {
    return session_.clock_offset(settings_.endpoint("resourceManager"));
  }

 private:
  const ConnectionSettings settings_;
  cloud::Session session_, metadata_;
  Wire wire_;
  TokenCache tokens_;
};

}  // namespace

std::string ConnectionSettings::endpoint(const std::string& name) const {
  std::string url;
  if (const auto found = reach.endpoints.find(name); found != reach.endpoints.end())
    url = found->second;
  else if (name == "metadata")
    url = "http://169.254.169.254";
  else if (name == "retailPrices")
    url = "https://prices.azure.com";
  else
    url = of_cloud(cloud, name);
  while (url.ends_with('/')) url.pop_back();
  return url;
}

std::string ConnectionSettings::audience() const {
  return of_cloud(cloud, "audience");
}

std::string ConnectionSettings::portal() const {
  return of_cloud(cloud, "portal");
}

Result<ConnectionSettings> read_connection(const json::object& config) {
  ConnectionSettings settings;
  codec::Reader reader;
  reader.read(json::value(config), settings);
  if (reader.failed()) return Error::invalid(reader.mistake());
  if (const std::string wrong = mistake_in(settings); !wrong.empty()) return Error::invalid(wrong);
  auto reach = cloud::read_reach(config, mistake_in_endpoint);
  if (!reach) return reach.error();
  settings.reach = std::move(*reach);
  return settings;
}

std::unique_ptr<Api> connect(const ConnectionSettings& settings) {
  return std::make_unique<HttpApi>(settings);
}

}  // namespace muster::azure
