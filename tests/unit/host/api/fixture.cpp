#include "tests/unit/host/api/fixture.hpp"

#include <future>

#include <gtest/gtest.h>

#include "lib/base/secret.hpp"

namespace muster::api {

using namespace std::chrono_literals;

std::string Reply::text(std::string_view name) const {
  const json::value* found = body.is_object() ? body.get_object().if_contains(name) : nullptr;
  return found && found->is_string() ? std::string(found->get_string()) : "";
}

Fixture::Fixture(bool with_fleet) {
  const Sha256 digest = sha256("root");
  authority.put({.client_id = "root",
                 .kind = auth::ClientKind::token,
                 .keys = {{Secret(std::string(digest.begin(), digest.end()))}},
                 .scopes = {"*"}});
  Services services;
  if (with_fleet) {
    auto loaded = fleet::Fleet::load(store, {}, "host-1", {clock->now(), 1h});
    EXPECT_TRUE(loaded);
    fleet = std::make_unique<fleet::Service>(
        std::move(*loaded),
        fleet::ServiceParts{
            .store = &store, .clock = clock, .log = {}, .find_plugin = [](const std::string&) {
              return fleet::Callee{};
            }});
    services.fleet = fleet.get();
    services.store = &store;
    services.provider_context = [this] { return provider_context(); };
    services.configuration_status = [] { return std::nullopt; };
    services.demand_status = [] { return std::vector<demand::SourceStatus>(); };
  } else {
    services.problem = "the store is damaged";
  }
  services.worker_logs = &worker_logs;
  services.history = &history;
  services.authority = &authority;
  services.workers = &workers;
  services.clock = clock;
  services.state = [] { return "ready"; };
  services.status_document = [] { return json::object{{"version", "1.2.3"}}; };
  services.no_clients = "the store is damaged";
  router = std::make_unique<http::Router>(Log(), auth::Guard(authority, route_scopes()));
  add_routes(*router, services);
}

Fixture::~Fixture() {
  if (fleet) fleet->stop(1s);
}

Reply Fixture::ask(const std::string& method, const std::string& target, const std::string& body,
                   const std::string& token) {
  http::Request request;
  request.method = method;
  const auto question = std::min(target.find('?'), target.size());
  request.path = (target.starts_with('/') ? "" : "/api/muster/v1/") + target.substr(0, question);
  request.query = target.substr(std::min(question + 1, target.size()));
  request.body = body;
  request.peer = "192.0.2.1:4711";
  request.id = "request-1";
  request.headers.push_back({"Host", "muster.example"});
  if (!token.empty()) request.headers.push_back({"Authorization", "Bearer " + token});
  const auto answered = std::make_shared<std::promise<http::Response>>();
  auto future = answered->get_future();
  const http::Reply reply(
      [answered](http::Response&& response) { answered->set_value(std::move(response)); }, request);
  router->route(std::move(request), reply);
  if (future.wait_for(20s) != std::future_status::ready) {
    ADD_FAILURE() << method << " " << target << " is not answered";
    return {};
  }
  const http::Response response = future.get();
  Reply got{response.status, nullptr};
  if (auto parsed = json::parse(response.body)) got.body = std::move(*parsed);
  return got;
}

std::string Fixture::client(const std::vector<std::string>& scopes) {
  const std::string token = "token-" + std::to_string(++clients_);
  const Sha256 digest = sha256(token);
  authority.put({.client_id = "client-" + std::to_string(clients_),
                 .kind = auth::ClientKind::token,
                 .keys = {{Secret(std::string(digest.begin(), digest.end()))}},
                 .scopes = scopes});
  return token;
}

}  // namespace muster::api
