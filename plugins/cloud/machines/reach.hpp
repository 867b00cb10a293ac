// How an instance of a provider reaches its cloud: the keys of its configuration that all clouds
// have.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <muster/fields.hpp>
#include <muster/json.hpp>

#include "plugins/cloud/session.hpp"

namespace muster::cloud {

struct ReachSettings {
  // Other addresses of services, by what the cloud calls them.
  std::map<std::string, std::string> endpoints = {};
  std::optional<std::string> proxy = {};  // empty: none; nothing: what the environment says
  bool plain_http = false;                // allow http:// to other machines
  std::string ca_file = {};               // trusted instead of the system's certificates
  double timeout_seconds = 30;            // of one request
  std::int64_t max_answer_bytes = 32 << 20;

  static constexpr auto fields(auto visit) {
    return visit(optional("endpoints", &ReachSettings::endpoints),
                 optional("plainHttp", &ReachSettings::plain_http),
                 optional("proxy", &ReachSettings::proxy),
                 optional("caFile", &ReachSettings::ca_file),
                 optional("timeoutSeconds", &ReachSettings::timeout_seconds),
                 optional("maxAnswerBytes", &ReachSettings::max_answer_bytes));
  }
};

// The schema's properties, for the provider's configSchema. The texts describe `endpoints` and one
// of its values.
json::object reach_properties(const char* endpoints, const char* endpoint);

// The keys above of an instance's configuration; others are ignored. `invalid` names the key.
// `mistake_in_endpoint` says what is wrong with one entry of `endpoints`, and nothing if all is
// well.
using MistakeInEndpoint =
    std::function<std::string(const std::string& key, const std::string& url, bool plain_http)>;
Result<ReachSettings> read_reach(const json::object& config,
                                 const MistakeInEndpoint& mistake_in_endpoint);

// What is wrong with a URL of a service; empty if nothing is.
std::string mistake_in_url(const std::string& url, bool plain_http);
// Files are named by absolute paths: the plugin's working folder is the host's business. Empty if
// the path is fine or empty.
std::string mistake_in_path(const char* key, const std::string& path);

std::shared_ptr<Transport> transport_for(const ReachSettings& settings);
SessionSettings session_settings_for(const ReachSettings& settings);

// For a metadata service on the same machine or link: no proxy, small answers, little patience.
std::shared_ptr<Transport> near_transport();
SessionSettings near_session_settings();

}  // namespace muster::cloud
