// The command line as a whole: nouns and verbs, output, failures, contexts.
#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include <gmock/gmock.h>

#include "tests/integration/command_host.hpp"

namespace muster::testing {
namespace {

using ::testing::HasSubstr;

// What a host serves and what the program has commands for.
TEST_F(CommandsOfAHost, every_path_of_the_api_has_its_command) {
  std::set<std::string> served, called;
  const json::object description = document({"api", "GET", "/openapi.json"});
  for (const auto& [path, methods] : description.at("paths").as_object())
    for (const auto& [method, operation] : methods.as_object()) {
      std::string name(method);
      std::transform(name.begin(), name.end(), name.begin(), ::toupper);
      if (operation.is_object() && operation.as_object().contains("responses"))
        served.insert(name + " " + std::string(path));
    }
  const json::object commands = document({"commands"});
  for (const json::value& command : commands.at("commands").as_array())
    for (const json::value& call : command.at("calls").as_array())
      called.insert(std::string(call.as_string()));
  EXPECT_GT(served.size(), 70U);
  EXPECT_EQ(served, called);
}

TEST_F(CommandsOfAHost, failures_are_one_document_with_json) {
  for (const auto& [arguments, code, exit_code] :
       std::vector<std::tuple<std::vector<std::string>, std::string, int>>{
           {{"pool", "show", "nosuch"}, "ResourceNotFound", 1},
           {{"worker", "drain", "a/b"}, "ResourceNotFound", 1},
           {{"request", "cancel", "77"}, "ResourceNotFound", 1},
           {{"context", "use", "none"}, "notFound", 1},
           {{"pool", "list", "--jsn"}, "usage", 2},
           {{"pol"}, "usage", 2},
           {{"status", "--url", "http://127.0.0.1:1", "--token", "x"}, "transient", 1}}) {
    for (const std::vector<std::string>& output :
         {std::vector<std::string>{"--json"}, {"-o", "json"}}) {
      std::vector<std::string> all = arguments;
      all.insert(all.end(), output.begin(), output.end());
      const auto failure = json::parse_object(said(all, exit_code));
      ASSERT_TRUE(failure) << all[0];
      EXPECT_EQ(failure->at("code"), json::value(code)) << json::write(*failure);
      EXPECT_EQ(failure->at("exitCode"), json::value(exit_code));
      EXPECT_TRUE(failure->at("error").is_string());
    }
  }
}

TEST_F(CommandsOfAHost, mistyped_commands_and_options_are_answered_with_the_nearest) {
  EXPECT_THAT(said({"pol", "list"}, 2), HasSubstr("did you mean muster pool?"));
  EXPECT_THAT(said({"pool", "list", "--verdit", "x"}, 2), HasSubstr("did you mean --verdict?"));
  EXPECT_THAT(said({"pool", "lsit"}, 1), HasSubstr("Did you mean: muster pool list"));
  EXPECT_THAT(said({"pool", "shwo", "build"}, 2), HasSubstr("did you mean muster pool show?"));
  EXPECT_THAT(said({"worker", "drian", "a/b", "--reason", "x"}, 2),
              HasSubstr("did you mean muster worker drain?"));
}

TEST_F(CommandsOfAHost, values_that_cannot_be_read_are_wrong_usage) {
  EXPECT_THAT(said({"event", "list", "--since", "x"}, 2),
              HasSubstr("x is not the number of an event"));
  EXPECT_THAT(said({"pool", "pause", "build", "--for", "banana"}, 2),
              HasSubstr("--for banana is not a duration"));
}

TEST_F(CommandsOfAHost, problems_of_configurations_are_a_failure) {
  EXPECT_EQ(said({"config", "problems"}), "No problems.\n");
  std::ofstream(folder / "workers/build.toml", std::ios::app) << "[[rules\n";
  said({"config", "reload"});
  Finished done;
  for (int i = 0; i < 100 && done.exit_code != 1; ++i)
    done = run("muster", {"config", "problems"}, variables);
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_THAT(done.output, HasSubstr("build.toml"));
  said({"config", "problems", "--json"}, 1);
}

TEST_F(CommandsOfAHost, nouns_and_older_spellings_say_the_same) {
  wait_for_workers();
  const auto names_alone = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"-o", "name"});
    return said(arguments);
  };
  EXPECT_THAT(names_alone({"worker", "list"}), HasSubstr("sim-"));
  for (const auto& [own, older] :
       std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>>{
           {{"pool", "list"}, {"pools"}},
           {{"pool", "show", "build"}, {"pool", "build"}},
           {{"worker", "list", "--pool", "build"}, {"workers", "build"}},
           {{"launch-config", "list"}, {"launch-configs"}},
           {{"hold", "list"}, {"holds"}},
           {{"client", "list"}, {"clients"}},
           {{"pool", "dedicated"}, {"worker-pools"}},
           {{"error", "list"}, {"errors"}}})
    EXPECT_EQ(names_alone(own), names_alone(older)) << own[0] << " " << own[1];
  const json::object all = document({"worker", "list", "--sort", "worker"});
  ASSERT_EQ(all.at("workers").as_array().size(), 2U);
  EXPECT_LT(all.at("workers").at(0).at("workerId").as_string(),
            all.at("workers").at(1).at("workerId").as_string());
  EXPECT_EQ(said({"pool", "list", "-o", "name"}), "worker-manager/build\n");
  EXPECT_THAT(said({"worker", "list", "--no-headers"}), ::testing::Not(HasSubstr("WORKER")));
  EXPECT_THAT(said({"worker", "list", "--provider", "none"}), HasSubstr("No workers."));
  EXPECT_THAT(said({"worker", "list", "--pool", "none"}, 1), HasSubstr("worker-manager/none"));
}

TEST_F(CommandsOfAHost, tables_fit_the_columns_that_there_are) {
  wait_for_workers();
  variables["COLUMNS"] = "80";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"pool", "list"}, {"worker", "list"}, {"provider", "list"}}) {
    std::istringstream lines(said(command));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }),
                80)
          << line;
  }
}

// Also launch configurations that come while it is paused.
TEST_F(CommandsOfAHost, a_pool_is_paused_as_a_whole_and_stays_so_when_its_configuration_changes) {
  wait_for_workers();
  EXPECT_THAT(said({"pool", "pause", "none"}, 1), HasSubstr("there is no worker pool"));
  EXPECT_THAT(said({"pool", "pause", "build", "--reason", "bad image"}),
              HasSubstr("until it is resumed"));
  EXPECT_THAT(said({"pool", "list"}), HasSubstr("paused until it is resumed"));
  EXPECT_THAT(said({"pool", "show", "build"}),
              HasSubstr("paused (bad image); to end the pause: muster pool resume "
                        "worker-manager/build\n"));
  EXPECT_THAT(said({"why", "build"}),
              HasSubstr("It is paused and launches nothing until it is resumed: bad image. To end "
                        "the pause: muster pool resume worker-manager/build."));
  std::string text = content_of(folder / "workers/build.toml");
  text.replace(text.find("small"), 5, "large");
  std::ofstream(folder / "workers/build.toml") << text;
  said({"config", "reload"});
  bool changed = false;
  for (int i = 0; i < 300 && !changed; ++i) {
    const json::object all = document({"launch-config", "list", "--status", "archived"});
    changed = !all.at("launchConfigs").as_array().empty();
  }
  ASSERT_TRUE(changed);
  EXPECT_THAT(said({"launch-config", "list", "--status", "paused"}), HasSubstr("bad image"));
  EXPECT_THAT(said({"launch-config", "list", "--status", "active"}),
              HasSubstr("No launch configurations"));
  said({"pool", "resume", "build"});
  EXPECT_THAT(said({"why", "build"}), ::testing::Not(HasSubstr("It is paused")));
  EXPECT_THAT(said({"launch-config", "list", "--status", "paused"}),
              HasSubstr("No launch configurations"));
}

TEST_F(CommandsOfAHost, nobody_locks_everybody_out_without_being_asked) {
  EXPECT_THAT(said({"client", "disable", "admin"}, 1),
              ::testing::AllOf(HasSubstr("You are admin"), HasSubstr("--yes")));
  said({"client", "create", "ops", "--kind", "token", "--scope", "muster:get:status"});
  EXPECT_THAT(said({"client", "set", "ops", "--description", "x"}), HasSubstr("ops"));
  EXPECT_THAT(said({"client", "set", "ops"}, 1), HasSubstr("say what to change"));
  said({"client", "delete", "ops"});
}

TEST_F(CommandsOfAHost, contexts_name_hosts) {
  const std::string url = host->address().url, token = host->address().token;
  said({"logout"});
  EXPECT_THAT(said({"context", "add", "../x", "--url", url, "--token", token}, 1),
              HasSubstr("not a name"));
  EXPECT_THAT(said({"context", "add", "a", "--url", url, "--token", "wrong"}, 1),
              HasSubstr("not known here"));
  EXPECT_THAT(said({"context", "list"}), HasSubstr("No contexts"));
  said({"context", "add", "a", "--url", url, "--token", token});
  EXPECT_THAT(said({"status", "--context", "a"}), HasSubstr("is ready at"));
  EXPECT_THAT(said({"context", "show", "a"}), ::testing::Not(HasSubstr(token)));
  said({"context", "use", "a"});
  EXPECT_THAT(said({"status"}), HasSubstr("is ready at"));
  said({"context", "remove", "a"});
  EXPECT_THAT(said({"context", "list"}), HasSubstr("No contexts"));
}

}  // namespace
}  // namespace muster::testing
