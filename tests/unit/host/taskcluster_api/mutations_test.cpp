// Bodies of every endpoint that takes one, changed in one place at a time: what the schema refuses
// is answered 400, and nothing is answered with an error of the host.
#include <functional>

#include <gtest/gtest.h>

#include "fixture.hpp"

namespace muster::taskcluster_api {
namespace {

using Take = std::function<void(json::object, const std::string&)>;

const json::array& odd_values() {
  static const json::array values{nullptr,
                                  true,
                                  -1,
                                  1.5,
                                  1e308,
                                  std::int64_t{9'000'000'000'000'000'000},
                                  "",
                                  "\n",
                                  std::string(11'000, 'x'),
                                  json::array{},
                                  json::array{7},
                                  json::object{},
                                  json::object{{"colour", 7}}};
  return values;
}

// Every way to change one member of the object: gone, extra, or with an odd value; and so for the
// objects and lists in it.
void mutate(const json::object& body, const std::string& at, const Take& take) {
  json::object extra = body;
  extra["an extra key"] = 1;
  take(extra, at + " with an extra key");
  for (const auto& [key, value] : body) {
    const std::string path = at + "." + std::string(key);
    json::object without = body;
    without.erase(key);
    take(without, path + " gone");
    for (const json::value& odd : odd_values()) {
      json::object changed = body;
      changed[key] = odd;
      take(changed, path + " = " + json::write(odd).substr(0, 40));
    }
    const auto put_back = [&, name = std::string(key)](const json::value& inner,
                                                       const std::string& what) {
      json::object changed = body;
      changed[name] = inner;
      take(changed, what);
    };
    if (value.is_object()) mutate(value.get_object(), path, put_back);
    if (!value.is_array() || value.get_array().empty() || !value.get_array()[0].is_object())
      continue;
    mutate(value.get_array()[0].get_object(), path + "[0]",
           [&](const json::object& item, const std::string& what) {
             put_back(json::array{item}, what);
           });
  }
}

class Mutations : public ::testing::Test {
 protected:
  Mutations() {
    EXPECT_EQ(fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.pool_body()}).status, 200);
    EXPECT_EQ(
        fixture.call("createWorker", {"p/w", "g", "m"}, {.body = fixture.machine_body()}).status,
        200);
  }

  // How many were tried.
  int try_all(const std::string& endpoint, const std::vector<std::string>& parameters,
              const std::string& schema, const json::object& good) {
    int tried = 0;
    EXPECT_FALSE(fixture.schemas().refuse(schema, good)) << endpoint << ": the body is good";
    mutate(good, endpoint, [&](const json::object& body, const std::string& what) {
      ++tried;
      const Reply reply = fixture.call(endpoint, parameters, {.body = body});
      EXPECT_LT(reply.status, 500) << what << ": " << reply.text.substr(0, 300);
      if (fixture.schemas().refuse(schema, body)) {
        EXPECT_EQ(reply.status, 400) << what;
        EXPECT_EQ(reply.code(), "InputValidationError") << what;
      }
      if (reply.status >= 400) expect_error_shape(reply, endpoint, what);
    });
    return tried;
  }

  static void expect_error_shape(const Reply& reply, const std::string& endpoint,
                                 const std::string& what) {
    ASSERT_TRUE(reply.body.is_object()) << what;
    EXPECT_FALSE(reply.code().empty()) << what;
    EXPECT_FALSE(reply.message().empty()) << what;
    EXPECT_EQ(reply.at("requestInfo").at("method"), json::value(endpoint)) << what;
    EXPECT_TRUE(reply.at("requestInfo").at("payload").is_object() ||
                reply.at("requestInfo").at("payload").is_string())
        << what;
  }

  // Failed registrations are not limited here.
  Fixture fixture{{}, {.of_peer = {1'000'000, 1}, .of_worker = {1'000'000, 1}}};
};

TEST_F(Mutations, of_pools) {
  json::object cloud = fixture.cloud_pool_body();
  json::object& config = cloud["config"].as_object();
  config["scalingRatio"] = 0.5;
  config["lifecycle"] = json::object{{"registrationTimeout", 1800},
                                     {"reregistrationTimeout", 345600},
                                     {"queueInactivityTimeout", 7200},
                                     {"cycling", json::object{{"finishTasks", 60}}}};
  json::object& launch = config["launchConfigs"].as_array()[0].as_object();
  launch["workerConfig"] = json::object{{"a", 1}};
  launch["capacityPerInstance"] = 1;
  launch["workerManager"] = json::object{{"launchConfigId", "lc-mine"},
                                         {"capacityPerInstance", 1},
                                         {"initialWeight", 1},
                                         {"maxCapacity", 5}};
  EXPECT_EQ(fixture.call("createWorkerPool", {"p/c"}, {.body = cloud}).status, 200);
  EXPECT_GT(try_all("createWorkerPool", {"p/c"}, "create-worker-pool-request", cloud), 200);
  EXPECT_GT(try_all("updateWorkerPool", {"p/c"}, "update-worker-pool-request", cloud), 200);
  EXPECT_GT(try_all("updateWorkerPool", {"p/w"}, "update-worker-pool-request", fixture.pool_body()),
            50);
}

TEST_F(Mutations, of_workers) {
  json::object machine = fixture.machine_body();
  EXPECT_GT(try_all("createWorker", {"p/w", "g", "m2"}, "create-worker-request", machine), 20);
  EXPECT_GT(try_all("updateWorker", {"p/w", "g", "m"}, "create-worker-request", machine), 20);
}

TEST_F(Mutations, of_registrations) {
  const json::object proof{{"staticSecret", std::string(44, 's')},
                           {"registrationKey", std::string(43, 'k')},
                           {"queue", json::object{{"tags", json::array{"gpu"}}}},
                           {"state", json::object{{"os", "14"}}}};
  const json::object name{{"workerPoolId", "p/w"}, {"workerGroup", "g"}, {"workerId", "m"}};
  json::object entering = name;
  entering["providerId"] = "rack";
  entering["workerIdentityProof"] = proof;
  entering["systemBootTime"] = fixture.later(std::chrono::seconds(-30));
  EXPECT_GT(try_all("registerWorker", {}, "register-worker-request", entering), 50);
  json::object renewing = name;
  renewing["secret"] = std::string(44, 'x');
  EXPECT_GT(try_all("reregisterWorker", {}, "reregister-worker-request", renewing), 50);
}

TEST_F(Mutations, of_errors_and_pauses) {
  const json::object error{{"workerGroup", "g"},     {"workerId", "m"},
                           {"kind", "worker-error"}, {"title", "t"},
                           {"description", "d"},     {"extra", json::object{{"code", "x"}}}};
  EXPECT_GT(try_all("reportWorkerError", {"p/w"}, "report-worker-error-request", error), 50);
  const json::object pause{{"until", fixture.later(std::chrono::hours(10'000))}, {"reason", "r"}};
  EXPECT_GT(try_all("pauseLaunchConfig", {"p/w", "lc-1"}, "pause-launch-config-request", pause),
            20);
}

}  // namespace
}  // namespace muster::taskcluster_api
