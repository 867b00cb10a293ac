// Every operation of the host's own API, answered by a real host, held against the document that
// the host serves.
#include "tests/integration/own_api.hpp"

namespace muster::testing::own_api {
namespace {

TEST_F(OwnApi, every_answer_is_as_described) {
  const ApiDescription api(port);
  const std::string build = "worker-manager/build";
  const json::value listed =
      when("/pools/worker-manager%2Fbuild/workers", [](const json::value& v) {
        const auto& workers = v.at("workers").as_array();
        return workers.size() == 3 && std::ranges::none_of(workers, [](const json::value& worker) {
                 return worker.at("workerId").as_string().empty();
               });
      });
  when("/holds", [](const json::value& v) { return !v.at("holds").as_array().empty(); });
  when("/errors", [](const json::value& v) { return !v.at("errors").as_array().empty(); });

  for (const char* id : {"listOperations", "openapi", "status", "whoami"}) asked(api, id, 200);

  asked(api, "listPools", 400, {}, "?limit=0");
  asked(api, "listPools", 400, {}, "?verdict=happy");
  asked(api, "listPools", 400, {}, "?colour=red");
  const json::value first = asked(api, "listPools", 200, {}, "?limit=1");
  EXPECT_EQ(first.at("pools").as_array().size(), 1u);
  const std::string next(first.at("next").as_string());
  const json::value second =
      asked(api, "listPools", 200, {}, "?limit=1&after=" + cli::path_segment(next));
  EXPECT_EQ(second.at("pools").at(0).at("workerPoolId").as_string(), "worker-manager/doomed");
  EXPECT_FALSE(second.as_object().contains("next"));
  asked(api, "getPool", 404, {{"workerPoolId", "worker-manager/none"}});
  asked(api, "getPool", 200, {{"workerPoolId", build}});
  asked(api, "listDecisions", 404, {{"workerPoolId", "worker-manager/none"}});
  const json::value bids =
      asked(api, "listDecisions", 200, {{"workerPoolId", build}}, "?kind=select&limit=1000");
  ASSERT_FALSE(bids.at("decisions").as_array().empty());
  const std::string digest(bids.at("decisions").at(0).at("digest").as_string());
  const json::value same =
      asked(api, "listDecisions", 200, {{"workerPoolId", build}}, "?digest=" + digest);
  for (const json::value& decision : same.at("decisions").as_array())
    EXPECT_EQ(decision.at("digest").as_string(), digest);
  asked(api, "listErrorsOfPool", 200, {{"workerPoolId", "worker-manager/doomed"}}, "?limit=1");
  asked(api, "listErrors", 200, {}, "?limit=1");
  asked(api, "countErrors", 404, {}, "?workerPoolId=a%2Fb");
  const json::value counts = asked(api, "countErrors", 200);
  EXPECT_GT(counts.at("total").as_int64(), 0);
  EXPECT_TRUE(counts.at("byWorkerPool").as_object().contains("worker-manager/doomed"));
  asked(api, "listDemandSources", 200);
  asked(api, "getAmqp", 200);

  // Workers.
  asked(api, "listWorkers", 400, {{"workerPoolId", build}}, "?state=sleeping");
  const json::value newest =
      asked(api, "listWorkers", 200, {{"workerPoolId", build}}, "?state=requested&limit=2");
  EXPECT_EQ(newest.at("workers").as_array().size(), 2u);
  const json::value oldest =
      asked(api, "listWorkers", 200, {{"workerPoolId", build}},
            "?limit=2&before=" + std::to_string(newest.at("next").as_int64()));
  EXPECT_EQ(oldest.at("workers").as_array().size(), 1u);
  const json::value none =
      asked(api, "listWorkers", 200, {{"workerPoolId", build}}, "?state=stopped");
  EXPECT_TRUE(none.at("workers").as_array().empty());
  const json::value& some = listed.at("workers").at(0);
  const Parameters worker{{"workerPoolId", build},
                          {"workerGroup", std::string(some.at("workerGroup").as_string())},
                          {"workerId", std::string(some.at("workerId").as_string())}};
  for (const char* id : {"listRuns", "getRunSource", "getConfigurationDifference", "listRoles"})
    asked(api, id, 200);
  asked(api, "listPoolRuns", 400, {{"workerPoolId", build}}, "?outcome=happy");
  asked(api, "listPoolRuns", 200, {{"workerPoolId", build}}, "?outcome=failed&limit=1");
  asked(api, "listWorkerRuns", 200, worker);
  asked(api, "getWorker", 404, {{"workerPoolId", build}, {"workerGroup", "x"}, {"workerId", "y"}});
  asked(api, "findWorkers", 404, {{"workerGroup", "x"}, {"workerId", "y"}});
  EXPECT_EQ(asked(api, "findWorkers", 200, worker).at("workers").as_array().size(), 1u);
  asked(api, "quarantineWorker", 400, worker, "", R"({"until": "tomorrow"})");
  register_worker(worker);
  asked(api, "getWorker", 200, worker);
  asked(api, "reportActivity", 400, worker, "", R"({"busy": -1})");
  asked(api, "reportActivity", 400, worker, "", R"({"busy": 1000000})");
  asked(api, "reportActivity", 200, worker, "", R"({"busy": 1})");
  asked(api, "reportLog", 200, worker, "", R"({"from": 0, "next": 6, "text": "hello\n"})");
  EXPECT_EQ(asked(api, "workerLog", 200, worker).at("text").as_string(), "hello\n");
  EXPECT_EQ(asked(api, "getWorker", 200, worker).at("busy").as_int64(), 1);
  asked(api, "reportInterruption", 400, worker, "", R"({"reason": "no time"})");
  asked(api, "reportInterruption", 200, worker, "",
        R"({"at": "2099-01-01T00:00:00Z", "reason": "the cloud says so"})");
  EXPECT_EQ(asked(api, "getWorker", 200, worker).at("drain").as_string(), "interrupted");
  asked(api, "drainWorker", 200, worker, "", "{}");
  asked(api, "quarantineWorker", 200, worker, "",
        R"({"until": "2099-01-01T00:00:00Z", "reason": "it smells"})");
  asked(api, "removeWorker", 200, worker);
  asked(api, "reportActivity", 410, worker, "", R"({"busy": 0})");
  asked(api, "makeRegistrationChallenge", 400, {}, "", R"({"workerPoolId": "a/b"})");
  asked(api, "makeRegistrationChallenge", 200, {}, "",
        R"({"workerPoolId": "a/b", "providerId": "sim", "workerGroup": "g", "workerId": "w"})");

  const json::value& other = listed.at("workers").at(1);
  register_worker({{"workerPoolId", build},
                   {"workerGroup", std::string(other.at("workerGroup").as_string())},
                   {"workerId", std::string(other.at("workerId").as_string())}});
  ask_queue(api);

  // Launch configurations.
  const json::value all = asked(api, "listLaunchConfigs", 200, {}, "?limit=1");
  const std::string after(all.at("next").as_string());
  EXPECT_NE(asked(api, "listLaunchConfigs", 200, {}, "?limit=1&after=" + cli::path_segment(after))
                .at("launchConfigs")
                .at(0)
                .at("launchConfigId"),
            all.at("launchConfigs").at(0).at("launchConfigId"));
  const std::string id(all.at("launchConfigs").at(0).at("launchConfigId").as_string());
  const Parameters launch_config{{"workerPoolId", build}, {"launchConfigId", id}};
  asked(api, "getLaunchConfig", 404, {{"workerPoolId", build}, {"launchConfigId", "lc-0"}});
  asked(api, "listLaunchConfigRuns", 200, launch_config);
  asked(api, "pauseLaunchConfig", 400, launch_config, "", R"({"until": 5})");
  asked(api, "pauseLaunchConfig", 400, launch_config, "", "[");
  const std::string far = R"({"until": "2099-01-01T00:00:00Z"})";
  for (const char* id : {"pausePool", "resumePool"}) asked(api, id, 200, launch_config, "", far);
  asked(api, "pauseLaunchConfig", 200, launch_config, "", far);
  EXPECT_EQ(asked(api, "getLaunchConfig", 200, launch_config).at("status").as_string(), "paused");
  EXPECT_EQ(asked(api, "listLaunchConfigs", 200, {}, "?status=paused")
                .at("launchConfigs")
                .as_array()
                .size(),
            1u);
  asked(api, "resumeLaunchConfig", 200, launch_config);

  // Providers and what holds them back.
  for (const char* id : {"listProviders", "listHosts", "listAllRequests"}) asked(api, id, 200);
  asked(api, "getProvider", 404, {{"providerId", "nobody"}});
  EXPECT_FALSE(
      asked(api, "getProvider", 200, {{"providerId", "sim"}}).at("placements").as_array().empty());
  asked(api, "releaseHolds", 404, {{"providerId", "sim"}});
  asked(api, "releaseHolds", 404, {{"providerId", "bad"}}, "?scope=nowhere");
  EXPECT_FALSE(asked(api, "listHolds", 200).at("holds").as_array().empty());
  EXPECT_FALSE(
      asked(api, "releaseHolds", 200, {{"providerId", "bad"}}).at("released").as_array().empty());

  // Worker configurations.
  for (const char* id : {"getWorkerConfigurations", "listAllWorkers"}) asked(api, id, 200);
  asked(api, "reloadWorkerConfigurations", 200);
  asked(api, "checkWorkerConfigurations", 200, {}, "", R"({"files": []})");
  for (const char* id : {"acceptEmptyWorkerConfigurations", "handOver"}) asked(api, id, 400);
  EXPECT_EQ(asked(api, "listConfigurationFiles", 200).at("files").as_array().size(), 2u);
  asked(api, "listConfigurationFiles", 404, {}, "?refused=true");
  asked(api, "getConfigurationFile", 404, {{"configurationId", "none"}});
  EXPECT_EQ(asked(api, "getConfigurationFile", 200, {{"configurationId", "build"}})
                .at("text")
                .as_string(),
            worker_type("build", "sim"));
  asked(api, "evaluate", 400);
  asked(api, "evaluate", 404, {}, "?workerPoolId=worker-manager%2Fnone");
  asked(api, "evaluate", 400, {}, "?workerPoolId=worker-manager%2Fbuild&fact=region");
  EXPECT_EQ(asked(api, "evaluate", 200, {}, "?workerPoolId=worker-manager%2Fbuild")
                .at("document")
                .at("maxCapacity")
                .as_int64(),
            4);
  asked(api, "evaluate", 200, {}, "?workerPoolId=worker-manager%2Fbuild&launchConfigId=" + id);
  const std::string explain = "?workerPoolId=worker-manager%2Fbuild&fact=region%3Deu-1&key=";
  asked(api, "explain", 404, {}, explain + "workerConfig.cash");
  const json::value why = asked(api, "explain", 200, {}, explain + "workerConfig.cache");
  EXPECT_EQ(why.at("values").at(0).at("rule").as_string(), "eu");

  // Pools of the API, plugins, clients, events.
  const std::string pool =
      R"({"providerId": "null-provider", "owner": "me@example.com", "description": "", )"
      R"("emailOnError": false, "config": {}})";
  asked(api, "putPool", 400, {{"workerPoolId", build}}, "", pool);
  asked(api, "putPool", 200, {{"workerPoolId", "mine/own"}}, "", pool);
  asked(api, "removePool", 200, {{"workerPoolId", "mine/own"}});
  asked(api, "backup", 400, {}, "",
        json::write(json::object{{"file", (folder / "elsewhere.db").string()}}));
  asked(api, "backup", 200, {}, "", R"({"file": "copy.db"})");
  for (const char* version : {"1.0.0", "2.0.0"}) {
    const Finished installed = run(
        "muster",
        {"plugin", "install", std::string(MUSTER_BAD_PLUGINS) + "/good-" + version + "/good.so"},
        {{"MUSTER_URL", host->address().url}, {"MUSTER_TOKEN", token}});
    ASSERT_EQ(installed.exit_code, 0) << installed.output;
  }
  asked(api, "rollBackPlugin", 404, {{"pluginId", "provider/none"}});
  asked(api, "rollBackPlugin", 200, {{"pluginId", "provider/good"}});

  const Parameters client{{"clientId", "ci/deploy"}};
  asked(api, "getClient", 404, client);
  asked(api, "createClient", 400, client, "", R"({"scopes": "all"})");
  asked(api, "createClient", 200, client, "", R"({"kind": "token", "scopes": ["muster:get:*"]})");
  asked(api, "createClient", 409, client, "", R"({"kind": "token", "scopes": []})");
  asked(api, "changeClient", 200, client, "", R"({"description": "deploys"})");
  asked(api, "getClient", 200, client);
  asked(api, "rotateClient", 200, client, "", R"({"now": true})");
  for (const char* id : {"disableClient", "enableClient", "removeClient"})
    asked(api, id, 200, client);
  const json::value events = asked(api, "events", 200, {}, "?after=0&limit=5");
  EXPECT_EQ(events.at("events").at(0).at("number").as_int64(), 1);
  asked(api, "events", 400, {}, "?after=x");
  for (const char* list : {"listWebhooks", "listSetAside", "getHistory", "listPlugins",
                           "rescanPlugins", "listClients"})
    asked(api, list, 200);
  asked(api, "getWebhook", 404, {{"name", "none"}});
  asked(api, "getWebhook", 200, {{"name", "nobody"}});
  const json::value letters = when("/webhooks/nobody/dead-letters", [](const json::value& v) {
    return v.at("deadLetters").as_array().size() >= 1;
  });
  const auto number = std::to_string(letters.at("deadLetters").at(0).at("number").as_int64());
  asked(api, "listDeadLetters", 200, {{"name", "nobody"}});
  asked(api, "retryDeadLetter", 404, {{"name", "nobody"}, {"number", "999999"}});
  asked(api, "retryDeadLetter", 202, {{"name", "nobody"}, {"number", number}});
  asked(api, "deleteDeadLetter", 204, {{"name", "nobody"}, {"number", number}});
  for (const char* id : {"getPoolHistory", "getPayloadSchema"})
    asked(api, id, 200, {{"workerPoolId", build}});
  asked(api, "getPluginInstance", 404, {{"instanceId", "none"}});
  const json::value plugins = asked(api, "listPlugins", 200);
  for (const json::value& plugin : plugins.at("plugins").as_array())
    for (const json::value& instance : plugin.at("instances").as_array())
      asked(api, "getPluginInstance", 200,
            {{"instanceId", std::string(instance.at("instanceId").as_string())}});
  // These have tests of their own.
  answered.insert({"handOver", "streamChanges", "validatePayload", "openSession", "getSession",
                   "closeSession", "registerForRelay", "acceptEmptyWorkerConfigurations",
                   "getSetAside", "discardSetAside", "retrySetAside", "diagnoseProvider"});
  for (const Operation& operation : api.operations())
    if (operation.id.find("Documentation") != std::string::npos) answered.insert(operation.id);
  std::string forgotten;
  for (const Operation& operation : api.operations())
    if (!answered.contains(operation.id)) forgotten += operation.id + " ";
  EXPECT_EQ(forgotten, "") << "no good answer of these was seen";
}

TEST_F(OwnApi, each_operation_is_described_and_wants_its_own_scope) {
  const ApiDescription api(port);
  const Finished made = run("muster", {"client", "create", "nothing", "--kind", "token", "--json"},
                            {{"MUSTER_URL", host->address().url}, {"MUSTER_TOKEN", token}});
  ASSERT_EQ(made.exit_code, 0) << made.output;
  const std::string powerless(json::parse_object(made.output)->at("token").as_string());
  const Parameters parameters{{"workerPoolId", "a/b"},
                              {"launchConfigId", "lc-1"},
                              {"workerGroup", "g"},
                              {"workerId", "w"},
                              {"pluginId", "p/q"},
                              {"providerId", "sim"},
                              {"configurationId", "c"},
                              {"clientId", "some/one"},
                              {"name", "hook"},
                              {"number", "1"},
                              {"team", "ios"},
                              {"requestId", "1"},
                              {"documentPath", "docs/a.md"}};
  std::set<std::string> described;
  for (const Operation& operation : api.operations()) {
    std::string shown = operation.scopes.empty() ? "" : " " + operation.scopes.front();
    described.insert(operation.method + " " + base + operation.path + shown);
    if (operation.scopes.empty()) continue;
    const std::string target = base + filled(operation.path, parameters);
    const HttpAnswer nobody = ask(port, operation.method, target);
    EXPECT_EQ(nobody.status, 401) << operation.id;
    EXPECT_EQ(api.complaints(operation, nobody), "") << operation.id;
    const HttpAnswer refused = ask(port, operation.method, target, powerless);
    EXPECT_EQ(refused.status, 403) << operation.id << refused.body;
    EXPECT_EQ(api.complaints(operation, refused), "") << operation.id;
    std::string scope = operation.scopes.front();
    if (operation.id == "registerForRelay") scope = scope.substr(0, scope.find('<'));
    for (const auto& [name, value] : parameters)
      if (const std::size_t at = scope.find("<" + name + ">"); at != std::string::npos)
        scope.replace(at, name.size() + 2, value);
    EXPECT_THAT(refused.body, HasSubstr(scope)) << operation.id;
  }
  std::set<std::string> there;
  const auto index = json::parse(ask(port, "GET", base).body).value();
  for (const json::value& operation : index.at("operations").as_array()) {
    const json::value* scope = operation.as_object().if_contains("scope");
    there.insert(std::string(operation.at("method").as_string()) + " " +
                 std::string(operation.at("path").as_string()) +
                 (scope ? " " + std::string(scope->as_string()) : ""));
  }
  EXPECT_EQ(there, described);
}

TEST_F(OwnApi, what_is_refused_can_be_read_beside_what_serves) {
  const ApiDescription api(port);
  when("/worker-configurations",
       [](const json::value& v) { return v.as_object().contains("revision"); });
  std::ofstream(folder / "workers/build.toml") << worker_type("build", "elsewhere");
  const json::value refused = when("/worker-configurations", [](const json::value& v) {
    return v.as_object().contains("refusedRevision");
  });
  for (const char* id : {"getWorkerConfigurations", "listAllWorkers"}) asked(api, id, 200);
  EXPECT_THAT(json::write(refused.at("problems")), HasSubstr("build.toml"));
  const json::value file =
      asked(api, "getConfigurationFile", 200, {{"configurationId", "build"}}, "?refused=true");
  EXPECT_THAT(std::string(file.at("text").as_string()), HasSubstr("elsewhere"));
  const json::value serves =
      asked(api, "getConfigurationFile", 200, {{"configurationId", "build"}});
  EXPECT_EQ(serves.at("text").as_string(), worker_type("build", "sim"));
}

}  // namespace
}  // namespace muster::testing::own_api
