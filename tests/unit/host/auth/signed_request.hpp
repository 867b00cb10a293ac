// Requests as a client signs them, with everything open to be spoilt.
#pragma once

#include "host/auth/authority.hpp"
#include "lib/base/fake_clock.hpp"
#include "lib/hawk/hawk.hpp"

namespace muster::auth {

inline http::Request plain_request(const std::string& target = "/x", std::string method = "GET") {
  http::Request request;
  request.method = std::move(method);
  const auto question = target.find('?');
  request.path = target.substr(0, question);
  request.has_query = question != std::string::npos;
  if (request.has_query) request.query = target.substr(question + 1);
  request.peer = "192.0.2.7:4711";
  request.headers.push_back({"Host", "fleet.example:8600"});
  return request;
}

inline http::Request with_header(std::string value, http::Request request = plain_request()) {
  request.headers.push_back({"Authorization", std::move(value)});
  return request;
}

inline std::int64_t seconds_of(const Clock& clock) {
  return std::chrono::floor<std::chrono::seconds>(clock.now()).time_since_epoch().count();
}

struct Signing {
  std::string id = "me", key = "my-key", ext = {}, nonce = "n1";
  std::int64_t ts = 0;
  std::uint16_t port = 8600;
  std::string host = "fleet.example";
};

inline http::Request signed_request(const Signing& how, http::Request request = plain_request()) {
  hawk::Attributes attributes;
  attributes.id = how.id;
  attributes.ts = std::to_string(how.ts);
  attributes.nonce = how.nonce;
  attributes.ext = how.ext;
  attributes.mac = hawk::mac_of(
      Secret(how.key), hawk::normalized("header", attributes,
                                        {request.method, request.target(), how.host, how.port}));
  return with_header(hawk::format_header(attributes), std::move(request));
}

inline Client hawk_client(std::string id, std::string key, std::vector<std::string> scopes = {}) {
  Client client{std::move(id), ClientKind::hawk, {}, std::move(scopes)};
  client.keys.push_back({Secret(std::move(key))});
  return client;
}

inline Client token_client(std::string id, const std::string& token,
                           std::vector<std::string> scopes = {}) {
  const Sha256 digest = sha256(token);
  Client client{std::move(id), ClientKind::token, {}, std::move(scopes)};
  client.keys.push_back(
      {Secret(std::string(reinterpret_cast<const char*>(digest.data()), digest.size()))});
  return client;
}

}  // namespace muster::auth
