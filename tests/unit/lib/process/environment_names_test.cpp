#include "lib/process/environment_names.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

using namespace std::string_literals;

TEST(EnvironmentNames, that_make_programs_run_other_code_are_refused) {
  for (const char* name : {"BASH_ENV",
                           "BASH_FUNC_ls",
                           "ENV",
                           "IFS",
                           "PATH",
                           "LD_PRELOAD",
                           "LD_LIBRARY_PATH",
                           "LD_AUDIT",
                           "DYLD_INSERT_LIBRARIES",
                           "GLIBC_TUNABLES",
                           "PYTHONSTARTUP",
                           "PYTHONPATH",
                           "PERL5OPT",
                           "PERL5LIB",
                           "RUBYOPT",
                           "NODE_OPTIONS",
                           "JAVA_TOOL_OPTIONS",
                           "_JAVA_OPTIONS",
                           "GIT_SSH_COMMAND",
                           "GIT_DIR",
                           "SSH_AUTH_SOCK",
                           "SHELLOPTS",
                           "PS4",
                           "HOME",
                           "TMPDIR",
                           "USER",
                           "LESSOPEN",
                           "PROMPT_COMMAND",
                           "GCONV_PATH",
                           "XDG_CONFIG_HOME",
                           "NOTIFY_SOCKET",
                           "LISTEN_FDS",
                           "GCC_EXEC_PREFIX",
                           "CMAKE_TOOLCHAIN_FILE",
                           "MAVEN_OPTS",
                           "RSYNC_RSH",
                           "HGEDITOR",
                           "CAML_LD_LIBRARY_PATH",
                           "QT_PLUGIN_PATH",
                           "VIMINIT",
                           "RUSTFLAGS",
                           "R_PROFILE_USER",
                           "npm_config_script_shell"})
    EXPECT_TRUE(refused_variable(name)) << name;
}

TEST(EnvironmentNames, that_are_none_are_refused) {
  for (const std::string& name : {""s, "1A"s, "A-B"s, "A=B"s, "A B"s, "BASH_FUNC_a%%"s, "A\0B"s,
                                  "\xc3\xa4"s, "A\n"s, "A'B"s, std::string(129, 'A')})
    EXPECT_TRUE(refused_variable(name)) << name;
}

TEST(EnvironmentNames, of_the_agent_are_nobody_elses_whatever_an_operator_allows) {
  for (const char* name :
       {"MUSTER_LOCAL_FOLDER", "MUSTER_REPORTS", "MUSTER_", "TASKCLUSTER_ROOT_URL"}) {
    EXPECT_TRUE(refused_variable(name, {name})) << name;
    EXPECT_FALSE(check_allowed_variable(name)) << name;
  }
  EXPECT_FALSE(check_allowed_variable("A=B"));
  EXPECT_FALSE(check_allowed_variable(""));
}

TEST(EnvironmentNames, of_teams_are_accepted_and_so_is_what_an_operator_allows) {
  for (const char* name : {"GREETING", "MUSTER_TASKS", "NODE_ENV", "CI", "_x", "http_proxy", "LANG",
                           "GITHUB_TOKEN", "A1", "LDFLAGS"})
    EXPECT_FALSE(refused_variable(name)) << name << ": " << *refused_variable(name);
  EXPECT_FALSE(refused_variable(std::string(128, 'A')));
  EXPECT_FALSE(refused_variable("PATH", {"PATH"}));
  EXPECT_TRUE(refused_variable("PATH", {"PATHS"}));
  EXPECT_TRUE(check_allowed_variable("PATH"));
}

TEST(EnvironmentNames, of_a_worker_configuration_are_refused_with_their_path) {
  const auto mistake = [](json::object environment) {
    const auto good = check_environment({{"environment", std::move(environment)}}, {"GIT_DIR"});
    return good ? "" : good.error().message;
  };
  EXPECT_EQ(mistake({{"A", "b"}, {"LD_PRELOAD", "/tmp/x.so"}})
                .find("workerConfig.environment.LD_PRELOAD: can change which programs run"),
            0u);
  EXPECT_EQ(mistake({{"A", "b\0c"s}}),
            "workerConfig.environment.A: has a zero byte, which no environment can hold");
  EXPECT_EQ(mistake({{"A", "b"}, {"GIT_DIR", "/x"}, {"PATH", 3}}), "");
  EXPECT_TRUE(check_environment({}, {}));
  EXPECT_TRUE(check_environment({{"environment", 3}}, {}));
}

}  // namespace
}  // namespace muster
