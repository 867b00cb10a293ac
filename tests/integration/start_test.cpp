// Starting: what is refused, with which exit code and sentence; and what a started host has done.
#include <fstream>
#include <sstream>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "lib/base/secret.hpp"
#include "tests/integration/musterd_process.hpp"
#include "tests/support/raw_client.hpp"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

TEST(Start, a_wrong_command_line_exits_2) {
  EXPECT_EQ(run("musterd", {"--nonsense"}).exit_code, 2);
  EXPECT_EQ(run("musterd", {"--config"}).exit_code, 2);
  EXPECT_EQ(run("musterd", {"--log-level", "loud"}).exit_code, 2);
  EXPECT_EQ(run("musterd", {"extra"}).exit_code, 2);
  for (const char* address : {"8600", "localhost:", "127.0.0.1:65536", "example.com:80", ""})
    EXPECT_EQ(run("musterd", {"--check", "--listen", address}).exit_code, 2) << address;
  EXPECT_EQ(run("musterd", {"--check", "--data-directory", ""}).exit_code, 2);
}

TEST(Start, the_command_line_is_stronger_than_the_configuration) {
  TemporaryFolder folder;
  std::ofstream(folder / "muster.toml") << "listen = \"127.0.0.1:1\"\ndataDirectory = \"unused\"\n";
  Process host("musterd", {"--config", (folder / "muster.toml").string(), "--listen", "127.0.0.1:0",
                           "--data-directory", (folder / "used").string()});
  host.wait_for("musterd serves http://127.0.0.1:");
  EXPECT_TRUE(fs::exists(folder / "used/address"));
  EXPECT_FALSE(fs::exists(folder / "unused"));
}

TEST(Start, help_and_version_say_what_an_operator_needs) {
  const Finished help = run("musterd", {"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const char* word : {"--config", "--check", "--print-default-config", "SIGHUP", "Exit codes"})
    EXPECT_NE(help.output.find(word), std::string::npos) << word;
}

TEST(Start, all_programs_have_the_version_of_the_project) {
  const std::string version = MUSTER_VERSION;
  EXPECT_EQ(run("musterd", {"--version"}).output, "musterd " + version + "\n");
  EXPECT_EQ(run("muster-relay", {"--version"}).output, "muster-relay " + version + "\n");
  EXPECT_EQ(run("muster", {"--version"}).output, version + "\n");
  EXPECT_EQ(run("muster-agent", {"--version"}).output, version + "\n");
}

TEST(Start, a_second_host_on_the_same_data_directory_is_refused_with_the_pid_of_the_first) {
  Musterd first;
  const Finished second = run("musterd", {"--config", first.configuration_file().string()});
  EXPECT_EQ(second.exit_code, 4);
  EXPECT_NE(
      second.output.find("in use by another musterd, pid " + std::to_string(first.process().pid())),
      std::string::npos)
      << second.output;
  EXPECT_EQ(first.status().at("state"), "ready");
}

TEST(Start, a_killed_host_leaves_nothing_that_keeps_the_next_one_out) {
  Musterd first;
  first.process().signal(SIGKILL);
  EXPECT_EQ(first.process().exit_code(), 128 + SIGKILL);
  Process next("musterd", {"--config", first.configuration_file().string()});
  next.wait_for("musterd serves http://");
}

// Not even root may raise the limit in a container.
TEST(Start, with_few_open_files_serves_with_its_plugins) {
  TemporaryFolder folder;
  std::ofstream(folder / "muster.toml") << "pluginFolders = [\"" MUSTER_SHIPPED_PLUGINS "\"]\n";
  const std::string start =
      "ulimit -n 64; exec " MUSTER_PROGRAMS "/musterd --listen 127.0.0.1:0 --config '" +
      (folder / "muster.toml").string() + "' --data-directory '" + (folder / "data").string() + "'";
  Process host("/bin/sh", {"-c", start});
  host.wait_for("musterd serves http://");
  EXPECT_EQ(host.output().find("a plugin is refused"), std::string::npos) << host.output();
  EXPECT_NE(host.output().find("a plugin is active"), std::string::npos) << host.output();
}

TEST(Start, the_dashboard_is_there_with_all_it_needs_and_nothing_from_elsewhere) {
  Musterd host;
  const auto get = [&](const std::string& path) {
    RawClient client(host.port());
    client.send("GET " + path + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    return client.read_until("never, so all of it");
  };
  const std::string page = get("/");
  EXPECT_TRUE(page.starts_with("HTTP/1.1 200 OK")) << page;
  EXPECT_NE(page.find("Content-Security-Policy: default-src 'none'"), std::string::npos) << page;
  EXPECT_EQ(page.find("//"), std::string::npos) << page;
  std::size_t at = 0, found = 0;
  for (const std::string attribute : {"href=\"", "src=\""})
    for (at = 0; (at = page.find(attribute, at)) != std::string::npos; ++found) {
      at += attribute.size();
      const std::string path = page.substr(at, page.find('"', at) - at);
      EXPECT_TRUE(path.starts_with("./")) << path << " works behind no prefix of a proxy";
      const std::string file = get(path.substr(1));
      EXPECT_TRUE(file.starts_with("HTTP/1.1 200 OK")) << path;
      EXPECT_NE(file.find("Cache-Control: public, max-age=31536000, immutable"), std::string::npos);
    }
  EXPECT_EQ(found, 3U);
}

TEST(Start, a_port_in_use_exits_5_and_names_its_owner) {
  Musterd first;
  TemporaryFolder folder;
  std::ofstream(folder / "m.toml")
      << "listen = \"127.0.0.1:" << first.port() << "\"\ndataDirectory = \"data\"\n";
  const Finished second = run("musterd", {"--config", (folder / "m.toml").string()});
  EXPECT_EQ(second.exit_code, 5);
  EXPECT_NE(second.output.find("pid " + std::to_string(first.process().pid()) + " (musterd)"),
            std::string::npos)
      << second.output;
  EXPECT_FALSE(fs::exists(folder / "data/address"));
}

TEST(Start, an_admin_token_that_others_may_read_exits_1) {
  TemporaryFolder folder;
  fs::create_directory(folder / "data");
  std::ofstream(folder / "data/admin-token") << std::string(40, 't');
  fs::permissions(folder / "data/admin-token", fs::perms(0644));
  std::ofstream(folder / "m.toml") << "listen = \"127.0.0.1:0\"\ndataDirectory = \"data\"\n";
  const Finished refused = run("musterd", {"--config", (folder / "m.toml").string()});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.output.find("chmod 600"), std::string::npos) << refused.output;
}

// Root gives them away, others have none: then what root owns stays trusted.
TEST(Start, a_data_directory_token_or_configuration_of_somebody_else_is_refused) {
  for (const char* foreign : {"data", "data/admin-token", "m.toml"}) {
    TemporaryFolder folder;
    fs::create_directory(folder / "data");
    std::ofstream(folder / "data/admin-token") << std::string(40, 't');
    fs::permissions(folder / "data/admin-token", fs::perms(0600));
    std::ofstream(folder / "m.toml") << "listen = \"127.0.0.1:1\"\ndataDirectory = \"data\"\n";
    const bool given = ::chown((folder / foreign).c_str(), 4711, 4711) == 0;
    if (!given) fs::permissions(folder / foreign, fs::perms(0666));
    const Finished refused = run("musterd", {"--config", (folder / "m.toml").string()});
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_NE(refused.output.find(given ? "run chown " : "run chmod "), std::string::npos)
        << refused.output;
  }
}

TEST(Start, few_open_files_are_told_and_no_plugin_is_refused_for_it) {
  TemporaryFolder folder;
  std::ofstream(folder / "m.toml") << "listen = \"127.0.0.1:0\"\ndataDirectory = \"data\"\n"
                                   << "pluginFolders = [\"" MUSTER_SHIPPED_PLUGINS "\"]\n";
  const std::string program = std::string(MUSTER_PROGRAMS) + "/musterd";
  std::vector<std::string> words{"/bin/sh", "-c", "ulimit -n 64; exec \"$0\" --config \"$1\"",
                                 program, (folder / "m.toml").string()};
  if (::geteuid() == 0) {  // who could raise the limit
    ASSERT_EQ(::chown(folder.path().c_str(), 65534, 65534), 0);
    words.insert(words.begin(),
                 {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
  }
  Process host(words.front(), {words.begin() + 1, words.end()});
  host.wait_for("musterd serves http");
  EXPECT_NE(host.output().find("may have only 64 files open"), std::string::npos) << host.output();
  EXPECT_NE(host.output().find("a plugin is active"), std::string::npos) << host.output();
  EXPECT_EQ(host.output().find("a plugin is refused"), std::string::npos) << host.output();
}

TEST(Start, the_api_needs_the_token_and_health_does_not) {
  Musterd musterd;
  cli::HostClient stranger({musterd.address().url, "wrong"});
  EXPECT_TRUE(stranger.get("/healthz"));
  EXPECT_TRUE(stranger.get("/readyz"));
  for (const char* path : {"/api/muster/v1/status", "/api/none", "/api"}) {
    const auto refused = stranger.get(path);
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().error_class, ErrorClass::auth);
    EXPECT_EQ(refused.error().code, "AuthenticationFailed");
  }
  const json::object status = musterd.status();
  EXPECT_EQ(status.at("pid"), musterd.process().pid());
  EXPECT_EQ(status.at("dataDirectory").as_string(), musterd.data_directory().string());
  EXPECT_EQ(status.at("configurationFile").as_string(), musterd.configuration_file().string());
  EXPECT_EQ(status.at("version"), MUSTER_VERSION);
}

TEST(Start, further_tokens_come_from_the_configuration_as_digests) {
  const std::string token = "a token of the dashboard";
  Musterd musterd("[auth.tokens.dashboard]\nsha256 = \"" + to_hex(sha256(token)) + "\"\n");
  EXPECT_TRUE(cli::HostClient({musterd.address().url, token}).get("/api/muster/v1/status"));
}

TEST(Start, logs_are_json_lines_without_secrets_when_nobody_sits_at_a_terminal) {
  Musterd musterd("[log]\nlevel = \"debug\"\n");
  const std::string token = musterd.address().token;
  musterd.status();
  musterd.process().signal(SIGTERM);
  EXPECT_EQ(musterd.process().exit_code(), 0);
  std::istringstream lines(musterd.process().output());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto parsed = json::parse_object(line);
    ASSERT_TRUE(parsed) << line;
    EXPECT_TRUE(parsed->contains("time") && parsed->contains("level") &&
                parsed->contains("message"))
        << line;
  }
  EXPECT_GE(count, 4);
  EXPECT_EQ(musterd.process().output().find(token), std::string::npos);
}

TEST(Start, text_logs_can_be_asked_for) {
  Musterd musterd("[log]\nformat = \"text\"\n");
  EXPECT_NE(musterd.process().output().find("info    musterd serves http://"), std::string::npos);
}

TEST(Start, runs_without_a_configuration_file) {
  TemporaryFolder folder;
  const Command command = isolated("musterd");  // with the built-in port
  Process musterd(command.program, command.arguments,
                  {{"XDG_STATE_HOME", (folder / "new/state").string()}});
  musterd.wait_for("made an admin token");
  musterd.wait_for("musterd serves http://127.0.0.1:8600");
  EXPECT_TRUE(fs::exists(folder / "new/state/muster/admin-token"));
  musterd.signal(SIGTERM);
  EXPECT_EQ(musterd.exit_code(), 0) << musterd.output();
}

// systemd's side of sd_notify.
class NotifySocket {
 public:
  explicit NotifySocket(const fs::path& path)
      : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.string().copy(address.sun_path, sizeof address.sun_path - 1);
    if (::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("bind");
  }
  std::string receive() const {
    pollfd waiting{socket_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, 30'000) <= 0) throw std::runtime_error("no notification came");
    char text[4096];
    const ssize_t got = ::recv(socket_.get(), text, sizeof text, 0);
    return {text, static_cast<std::size_t>(std::max<ssize_t>(0, got))};
  }

 private:
  FileDescriptor socket_;
};

TEST(Start, systemd_is_told_of_readiness_reloading_and_stopping) {
  TemporaryFolder folder;
  const NotifySocket socket(folder / "notify");
  Musterd musterd("", {{"NOTIFY_SOCKET", (folder / "notify").string()}});
  EXPECT_TRUE(socket.receive().starts_with("READY=1\nSTATUS=serves http://"));
  musterd.process().signal(SIGHUP);
  EXPECT_TRUE(socket.receive().starts_with("RELOADING=1\nMONOTONIC_USEC="));
  EXPECT_TRUE(socket.receive().starts_with("READY=1"));
  musterd.process().signal(SIGTERM);
  EXPECT_TRUE(socket.receive().starts_with("STOPPING=1"));
  EXPECT_EQ(musterd.process().exit_code(), 0);
}

TEST(Start, systemds_watchdog_is_fed) {
  TemporaryFolder folder;
  const NotifySocket socket(folder / "notify");
  Musterd musterd("",
                  {{"NOTIFY_SOCKET", (folder / "notify").string()}, {"WATCHDOG_USEC", "40000"}});
  EXPECT_TRUE(socket.receive().starts_with("READY=1"));
  EXPECT_EQ(socket.receive(), "WATCHDOG=1");
  EXPECT_EQ(socket.receive(), "WATCHDOG=1");
}

}  // namespace
}  // namespace muster::testing
