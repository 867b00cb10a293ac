// A RabbitMQ of its own for one test: on ports and in a folder that nobody else uses, as the user
// who runs the test.
#pragma once

#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/support/end_with_parent.hpp"

namespace muster::testing {

class RabbitMq {
 public:
  static constexpr const char* program = "/usr/lib/rabbitmq/bin/rabbitmq-server";

  // Without starting it. The folder is where it keeps everything.
  explicit RabbitMq(std::filesystem::path folder)
      : folder_(std::move(folder)), port_(free_port()), names_port_(free_port()) {
    std::ofstream(folder_ / "rabbitmq.conf") << "listeners.tcp.1 = 127.0.0.1:" << port_
                                             << "\nloopback_users.guest = true\n"
                                                "vm_memory_high_watermark.absolute = 1GB\n"
                                                "disk_free_limit.absolute = 1MB\n";
    std::ofstream(folder_ / "enabled_plugins") << "[].\n";
    std::ofstream(folder_ / "advanced.config") << "[].\n";
  }
  ~RabbitMq() {
    kill();
    end(names_);
  }
  RabbitMq(const RabbitMq&) = delete;
  RabbitMq& operator=(const RabbitMq&) = delete;

  int port() const { return port_; }
  std::string url() const { return "amqp://127.0.0.1:" + std::to_string(port_) + "/"; }

  // Returns when it takes connections; throws with its log if it does not.
  void start() {
    using namespace std::chrono_literals;
    // Erlang's port mapper would otherwise be started as a daemon, and stay.
    if (names_ <= 0) names_ = spawn({"/usr/bin/epmd"});
    pid_ = spawn({program});
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!answers()) {
      if (::waitpid(pid_, nullptr, WNOHANG) != 0 || std::chrono::steady_clock::now() > end)
        throw std::runtime_error("rabbitmq-server did not start: " + output());
      std::this_thread::sleep_for(1ms);
    }
  }

  // As a power cut does it: the whole group of processes, at once.
  void kill() { end(pid_); }

 private:
  static int free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    ::bind(socket, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    ::close(socket);
    return ntohs(address.sin_port);
  }
  static sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  // A broker that is up answers the header of another protocol with its own.
  bool answers() const {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval patience{2, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const sockaddr_in address = loopback(port_);
    char answer[4] = "";
    const bool good =
        ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
        ::send(socket, "AMQP\1\1\1\1", 8, MSG_NOSIGNAL) == 8 &&
        ::recv(socket, answer, sizeof answer, MSG_WAITALL) == 4;
    ::close(socket);
    return good && std::string(answer, 4) == "AMQP";
  }

  std::vector<std::string> environment() const {
    const std::string at = folder_.string();
    return {"PATH=/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG=C.UTF-8",
            "HOME=" + at,
            "ERL_EPMD_PORT=" + std::to_string(names_port_),
            "ERL_EPMD_ADDRESS=127.0.0.1",
            "RABBITMQ_NODENAME=muster" + std::to_string(port_) + "@localhost",
            "RABBITMQ_NODE_PORT=" + std::to_string(port_),
            "RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
            "RABBITMQ_DIST_PORT=" + std::to_string(free_port()),
            "RABBITMQ_MNESIA_BASE=" + at + "/mnesia",
            "RABBITMQ_LOG_BASE=" + at + "/log",
            "RABBITMQ_CONF_ENV_FILE=" + at + "/none",
            "RABBITMQ_CONFIG_FILE=" + at + "/rabbitmq.conf",
            "RABBITMQ_ADVANCED_CONFIG_FILE=" + at + "/advanced.config",
            "RABBITMQ_ENABLED_PLUGINS_FILE=" + at + "/enabled_plugins",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+S 2:2"};
  }

  pid_t spawn(std::vector<std::string> words) const {
    std::vector<std::string> variables = environment();
    std::vector<char*> argv, envp;
    for (std::string& word : words) argv.push_back(word.data());
    for (std::string& variable : variables) envp.push_back(variable.data());
    argv.push_back(nullptr);
    envp.push_back(nullptr);
    const std::string log = (folder_ / "output").string();
    const pid_t parent = ::getpid(), pid = ::fork();
    if (pid != 0) {
      ::setpgid(pid, pid);  // both sides do, so that it is done before either goes on
      return pid;
    }
    end_with_parent(parent, SIGTERM);  // its script hands that on, and no SIGKILL
    ::setpgid(0, 0);
    ::close(STDIN_FILENO);
    ::open("/dev/null", O_RDONLY);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    if (::chdir(folder_.c_str()) == 0) ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  static void end(pid_t& group) {
    if (group <= 0) return;
    ::kill(-group, SIGKILL);
    ::waitpid(group, nullptr, 0);
    group = -1;
  }
  std::string output() const {
    std::ifstream in(folder_ / "output");
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const std::filesystem::path folder_;
  const int port_, names_port_;
  pid_t pid_ = -1, names_ = -1;
};

}  // namespace muster::testing
