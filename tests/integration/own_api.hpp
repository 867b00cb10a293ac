// A host with one good and one failing pool, and every operation of its own API at hand.
#pragma once

#include <algorithm>
#include <fstream>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/hmac.h>

#include <muster/codec.hpp>

#include "lib/base/secret.hpp"
#include "tests/integration/api_description.hpp"

namespace muster::testing::own_api {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr const char* base = "/api/muster/v1";
using Parameters = std::map<std::string, std::string>;

inline std::string worker_type(const std::string& name, const std::string& provider) {
  return "workerTypes = [\"" + name + "\"]\n[[rules]]\nruleId = \"all\"\ndescription = \"All\"\n" +
         "[rules.values]\nproviders = [\"" + provider +
         "\"]\nowner = \"team@example.com\"\ndescription = \"Builds\"\nmaxCapacity = 4\n"
         "simulated.instanceTypes = [\"small\"]\n[[rules]]\nruleId = \"eu\"\ndescription = "
         "\"Less there\"\nconditions = { region = \"eu-*\" }\n[rules.values.workerConfig]\n"
         "cache = true\n";
}

// A host with something of everything: workers, a provider that cannot launch, a webhook that
// nobody answers, a plugin with two versions.
class OwnApi : public ::testing::Test {
 protected:
  OwnApi() {
    std::filesystem::create_directories(folder / "workers");
    std::ofstream(folder / "workers/build.toml") << worker_type("build", "sim");
    std::ofstream(folder / "workers/doomed.toml") << worker_type("doomed", "bad");
    std::ofstream(folder / "demand.json")
        << R"({"worker-manager/build": 3, "worker-manager/doomed": 2})";
    host = std::make_unique<Musterd>(
        "[http]\naccessLog = false\n[workerConfigurations]\nsource = { folder = \"" +
            (folder / "workers").string() +
            "\" }\n[providers.sim]\nplugin = \"provider/simulated\"\n"
            "[providers.sim.config]\nsecret = \"a long random text\"\n[providers.bad]\nplugin = "
            "\"provider/simulated\"\n[providers.bad.config]\n"
            "failures = [{ method = \"allocate\", class = \"quota\" }]\n"
            "[strategies.classic]\nplugin = \"strategy/classic\"\n"
            "[strategies.estimator]\nplugin = \"strategy/estimator\"\n"
            "[demand.cron]\ntype = \"file\"\nfile = \"" +
            (folder / "demand.json").string() +
            "\"\n[webhooks.nobody]\nurl = \"http://127.0.0.1:1/\"\ngiveUpAfter = \"1s\"\n"
            "kinds = [\"worker-pool-created\"]\n",
        Variables{}, std::string(MUSTER_SHIPPED_PLUGINS) + "\", \"data/plugins.d");
    port = host->port();
    token = host->address().token;
  }

  static std::string filled(std::string path, const Parameters& parameters) {
    for (const auto& [name, value] : parameters)
      if (const std::size_t at = path.find("{" + name + "}"); at != std::string::npos)
        path.replace(at, name.size() + 2, cli::path_segment(value));
    return path;
  }

  // Asks, and holds the answer against the description; `wanted` is the status.
  json::value asked(const ApiDescription& api, const std::string& id, int wanted,
                    const Parameters& parameters = {}, const std::string& query = "",
                    const std::string& body = "") {
    const Operation& operation = api.find(id);
    const HttpAnswer answer =
        ask(port, operation.method, base + filled(operation.path, parameters) + query, token, body);
    EXPECT_EQ(answer.status, wanted) << id << ": " << answer.body;
    EXPECT_EQ(api.complaints(operation, answer), "") << id << ": " << answer.body;
    if (wanted < 300) answered.insert(id);
    if (wanted < 300 && id != "openapi") {
      EXPECT_EQ(api.unnoticed_mistakes(operation, answer), "");
    }
    const auto document = json::parse(answer.body);
    return document ? *document : json::value();
  }

  json::value when(const std::string& path, const std::function<bool(const json::value&)>& so) {
    HttpAnswer answer;
    for (int i = 0; i < 3000; ++i) {
      answer = ask(port, "GET", base + path, token);
      if (const auto document = json::parse(answer.body);
          document && answer.status == 200 && so(*document))
        return *document;
      std::this_thread::sleep_for(1ms);
    }
    throw std::runtime_error(path + " never said so, but " + answer.body);
  }

  // As the worker itself does it: with a proof that the simulated cloud has given it.
  void register_worker(const Parameters& name) {
    const std::string signed_text =
        name.at("workerPoolId") + "\n" + name.at("workerGroup") + "\n" + name.at("workerId");
    const std::string secret = "a long random text";
    Sha256 proof{};
    ::HMAC(::EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
           reinterpret_cast<const unsigned char*>(signed_text.data()), signed_text.size(),
           proof.data(), nullptr);
    const json::object body{{"workerPoolId", name.at("workerPoolId")},
                            {"providerId", "sim"},
                            {"workerGroup", name.at("workerGroup")},
                            {"workerId", name.at("workerId")},
                            {"workerIdentityProof", json::object{{"token", to_hex(proof)}}}};
    const HttpAnswer answer =
        ask(port, "POST", "/api/worker-manager/v1/worker/register", "", json::write(body));
    EXPECT_EQ(answer.status, 200) << answer.body;
  }

  void ask_queue(const ApiDescription& api) {
    asked(api, "listWorkerPools", 200);
    const Parameters pool{{"workerPoolId", "worker-manager/mac"}};
    const std::string one_team = R"({"teams": ["ios"], "exclusive": true})";
    asked(api, "attachWorkerPool", 404, pool, "", one_team);
    asked(api, "setWorkerPool", 200, pool);
    asked(api, "attachWorkerPool", 400, pool, "", R"({"teams": []})");
    asked(api, "attachWorkerPool", 200, pool, "", one_team);
    asked(api, "destroyWorkerPool", 400, pool);
    asked(api, "detachWorkerPool", 200, pool, "", R"({"teams": ["ios"]})");
    asked(api, "destroyWorkerPool", 200, pool);
    asked(api, "setTeam", 400, {{"team", "ios"}}, "", R"({"weight": 0})");
    asked(api, "setTeam", 400, {{"team", "ios"}}, "", R"({"wight": 2})");
    asked(api, "setTeam", 200, {{"team", "ios"}}, "", R"({"weight": 2, "maxHeld": 1})");
    Parameters request{{"team", "ios"}};
    asked(api, "requestWorker", 400, request, "", R"({"resources": {"memory": -1}})");
    const std::string body =
        R"({"workerPoolId": "worker-manager/build", "token": "t", "durationSeconds": 60})";
    const json::value held = asked(api, "requestWorker", 200, request, "", body);
    asked(api, "requestWorker", 409, request, "", R"({"token": "t", "tags": ["gpu"]})");
    request["requestId"] = held.at("requestId").as_string();
    EXPECT_EQ(asked(api, "showRequest", 200, request, "?wait=55").at("state"), "held");
    asked(api, "showRequest", 400, request, "?wait=-1");
    asked(api, "showRequest", 404, {{"team", "others"}, {"requestId", request["requestId"]}});
    asked(api, "showAnyRequest", 200, request);
    asked(api, "showAnyRequest", 400, {{"requestId", "x"}});
    asked(api, "heartbeat", 200, request);
    asked(api, "extendLease", 400, request, "", R"({"until": "tomorrow"})");
    asked(api, "extendLease", 400, request, "", R"({"until": "2026-01-01T00:00:00Z"})");
    asked(api, "extendLease", 200, request, "", until_text(2h));
    const json::value blocked = asked(api, "requestWorker", 200, request, "", "{}");
    EXPECT_EQ(blocked.at("verdict").at("cause").as_string(), "teamLimit");
    asked(api, "listRequests", 200, request, "?limit=1");
    asked(api, "showExpectations", 200);
    asked(api, "tellWhy", 400);
    asked(api, "tellWhy", 404, {}, "?subject=nobody");
    asked(api, "tellWhy", 200, {}, "?subject=build");
    const std::string id(blocked.at("requestId").as_string());
    asked(api, "tellWhy", 200, {}, "?subject=" + id);
    asked(api, "listTeams", 200);
    asked(api, "requestWorker", 200, {{"team", "web"}}, "", R"({"workerPoolId": "p/nowhere"})");
    const json::value load = asked(api, "showQueue", 200);
    EXPECT_EQ(load.at("waiting").as_int64(), 2);
    EXPECT_EQ(load.at("unserved").at("waiting").as_int64(), 1);
    asked(api, "releaseWorker", 200, request);
    asked(api, "releaseWorker", 404, request);
  }

  static std::string until_text(std::chrono::seconds later) {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    return R"({"until": ")" + format_time(now + later) + "\"}";
  }

  TemporaryFolder folder;
  std::unique_ptr<Musterd> host;
  std::uint16_t port = 0;
  std::string token;
  std::set<std::string> answered;
};

}  // namespace muster::testing::own_api
