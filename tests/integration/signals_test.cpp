#include <signal.h>

#include <gtest/gtest.h>

#include "tests/integration/musterd_process.hpp"
#include "tests/support/raw_client.hpp"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

// One event loop reads in the order in which things came: an answer to a later request proves that
// an earlier half request has been seen.
const std::string one_thread = "[http]\nthreads = 1\n";

TEST(SignalsOfAProcess, sigterm_lets_a_request_that_has_begun_end) {
  Musterd musterd(one_thread);
  RawClient idle(musterd.port()), busy(musterd.port());
  idle.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  idle.read_until("ok");
  busy.send("GET /healthz HTTP/1.1\r\nHost:");
  idle.forget();
  idle.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  idle.read_until("ok");
  musterd.process().signal(SIGTERM);
  musterd.process().wait_for("stopping: no new connections");
  idle.read_all();
  EXPECT_THROW(RawClient another(musterd.port()), std::runtime_error);
  busy.send(" a\r\n\r\n");
  EXPECT_NE(busy.read_all().find("{\"status\":\"ok\"}"), std::string::npos);
  EXPECT_EQ(musterd.process().exit_code(), 0) << musterd.process().output();
  EXPECT_FALSE(fs::exists(musterd.data_directory() / "address"));
}

TEST(SignalsOfAProcess, sigterm_stops_at_the_deadline_whatever_clients_do) {
  Musterd musterd("shutdownDeadline = \"100ms\"\n" + one_thread);
  RawClient busy(musterd.port());
  busy.send("GET /healthz HTTP/1.1\r\nHost:");
  RawClient probe(musterd.port());
  probe.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  probe.read_until("ok");
  musterd.process().signal(SIGTERM);
  EXPECT_EQ(musterd.process().exit_code(), 1);
  EXPECT_NE(musterd.process().output().find("stopped at the deadline"), std::string::npos);
}

TEST(SignalsOfAProcess, a_second_signal_stops_at_once) {
  Musterd musterd("shutdownDeadline = \"1h\"\n" + one_thread);
  RawClient busy(musterd.port());
  busy.send("GET /healthz HTTP/1.1\r\nHost:");
  RawClient probe(musterd.port());
  probe.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n");
  probe.read_until("ok");
  musterd.process().signal(SIGINT);
  musterd.process().wait_for("stopping: no new connections");
  musterd.process().signal(SIGTERM);
  EXPECT_EQ(musterd.process().exit_code(), 1);
  EXPECT_NE(musterd.process().output().find("stopped at once by a second signal"),
            std::string::npos);
}

TEST(SignalsOfAProcess, sighup_refuses_a_bad_configuration_whole_and_keeps_the_old_one) {
  Musterd musterd;
  musterd.configure("shutdownDeadline = 5\n[log]\nlevel = \"debug\"\nformt = \"text\"\n");
  musterd.process().signal(SIGHUP);
  musterd.process().wait_for("formt");
  EXPECT_NE(musterd.process().output().find("is refused, the host keeps the current one"),
            std::string::npos);
  json::object status = musterd.status();
  ASSERT_EQ(status.at("configurationProblems").as_array().size(), 2u);
  const std::string problem(status.at("configurationProblems").at(0).as_string());
  EXPECT_TRUE(problem.starts_with(musterd.configuration_file().string() + ":4:20: error: "))
      << problem;
  EXPECT_EQ(musterd.process().output().find("\"debug\""), std::string::npos);

  musterd.configure("");
  musterd.process().signal(SIGHUP);
  musterd.process().wait_for("the configuration was read again");
  EXPECT_TRUE(musterd.status().at("configurationProblems").as_array().empty());
}

TEST(SignalsOfAProcess, sighup_takes_over_what_it_can_and_names_what_waits_for_a_restart) {
  Musterd musterd;
  musterd.configure(
      "shutdownDeadline = \"5s\"\n[http]\nthreads = 1\n[log]\nlevel = \"debug\"\nformat = "
      "\"text\"\n[providers.new]\nplugin = \"provider/simulated\"\n");
  musterd.process().signal(SIGHUP);
  musterd.process().wait_for("the new value of `http` waits for a restart");
  EXPECT_NE(
      musterd.process().output().find("changed=\"http, shutdownDeadline, log, providers.new\""),
      std::string::npos)
      << musterd.process().output();
  const json::object status = musterd.status();
  EXPECT_EQ(json::write(status.at("restartNeeded")), "[\"http\"]");

  musterd.configure("");
  musterd.process().signal(SIGHUP);
  musterd.process().wait_for("\"message\":\"the configuration was read again\"");
  EXPECT_EQ(json::write(musterd.status().at("restartNeeded")), "[]");
}

TEST(SignalsOfAProcess, a_storm_of_reloads_disturbs_nobody) {
  Musterd musterd;
  for (int i = 0; i < 100; ++i) {
    musterd.process().signal(SIGHUP);
    if (i % 10 == 0) {
      EXPECT_EQ(musterd.status().at("state"), "ready");
    }
  }
  musterd.process().signal(SIGTERM);
  EXPECT_EQ(musterd.process().exit_code(), 0);
}

}  // namespace
}  // namespace muster::testing
