// A PostgreSQL of its own for one test program: in a temporary folder, on a socket in that folder
// and on a free port of the loopback interface, as a user without rights, because it refuses root.
#pragma once

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
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

class Postgres {
 public:
  static constexpr const char* programs = "/usr/lib/postgresql/15/bin/";

  // Makes the database cluster and starts it. `settings` are lines of postgresql.conf. With
  // `standby_of`, it is a standby of that server instead, which it copies.
  explicit Postgres(const std::string& settings = "", const Postgres* standby_of = nullptr)
      : port_(free_port()), folder_(make_folder()) {
    if (standby_of)
      run({"pg_basebackup", "-D", cluster(), "-h", "127.0.0.1", "-p",
           std::to_string(standby_of->port_), "-U", "postgres", "--checkpoint=fast", "--no-sync",
           "-R"});
    else
      run({"initdb", "-D", cluster(), "-U", "postgres", "--auth=trust", "--no-sync",
           "--encoding=UTF8", "--locale=C.UTF-8"});
    std::ofstream(cluster() + "/postgresql.conf", std::ios::app)
        << "\nport = " << port_ << "\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '"
        << folder_.string() << "'\nfsync = off\nfull_page_writes = off\nshared_buffers = 16MB\n"
        << "max_connections = 200\nlogging_collector = off\nautovacuum = off\n"
        << settings << "\n";
    start();
  }
  ~Postgres() {
    kill();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Postgres(const Postgres&) = delete;
  Postgres& operator=(const Postgres&) = delete;

  int port() const { return port_; }
  const std::filesystem::path& folder() const { return folder_; }
  std::string cluster() const { return (folder_ / "cluster").string(); }

  std::string url(const std::string& database = "postgres", const std::string& user = "postgres",
                  int through_port = 0) const {
    return "postgresql://" + user +
           "@127.0.0.1:" + std::to_string(through_port ? through_port : port_) + "/" + database;
  }

  // Returns when it takes connections.
  void start() {
    using namespace std::chrono_literals;
    pid_ = spawn({"postgres", "-D", cluster()});
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!ready()) {
      if (std::chrono::steady_clock::now() > end)
        throw std::runtime_error("postgres did not start: " + output());
      // It refuses to start while a process of the one before is still ending.
      if (::waitpid(pid_, nullptr, WNOHANG) != 0) pid_ = spawn({"postgres", "-D", cluster()});
      std::this_thread::sleep_for(1ms);
    }
  }
  // As a power cut: every process of it.
  void kill() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  void restart() {
    kill();
    start();
  }
  // Gives a file to the user who runs it, and to nobody else.
  void own(const std::string& file) const {
    std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    if (const passwd* user = other_user();
        user && ::chown(file.c_str(), user->pw_uid, user->pw_gid))
      throw std::runtime_error("cannot give " + file + " away");
  }
  // Of a standby.
  void promote() { run({"pg_ctl", "promote", "-D", cluster()}); }

  // One or several statements; what they print, without spaces.
  std::string sql(const std::string& statements, const std::string& database = "postgres") const {
    return run({"psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p",
                std::to_string(port_), "-U", "postgres", "-d", database, "-c", statements});
  }
  // A database that only this caller has.
  std::string new_database(const std::string& user = "postgres") const {
    const std::string name = "test" + std::to_string(++databases_);
    sql("CREATE DATABASE " + name + " OWNER " + user);
    return name;
  }

 private:
  static int free_port() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(socket, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    ::close(socket);
    return ntohs(address.sin_port);
  }
  static std::filesystem::path make_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "muster-postgres-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make " + name);
    if (const passwd* user = other_user();
        user && ::chown(name.c_str(), user->pw_uid, user->pw_gid))
      throw std::runtime_error("cannot give " + name + " away");
    return name;
  }
  // Who runs it, if this is root.
  static const passwd* other_user() { return ::geteuid() == 0 ? ::getpwnam("postgres") : nullptr; }

  pid_t spawn(std::vector<std::string> words, int output = -1) const {
    words[0].insert(0, programs);
    if (!std::filesystem::exists(words[0]))
      words[0] = "/usr/bin/" + words[0].substr(std::string(programs).size());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string log = (folder_ / "output").string();
    const passwd* user = other_user();
    const pid_t parent = ::getpid(), pid = ::fork();
    if (pid != 0) {
      ::setpgid(pid, pid);
      return pid;
    }
    ::setpgid(0, 0);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (user && (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 ||
                 ::setuid(user->pw_uid) != 0))
      ::_exit(126);
    end_with_parent(parent);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(output >= 0 ? output : out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    for (int i = 3; i < 256; ++i) ::close(i);
    ::setenv("LC_ALL", "C.UTF-8", 1);
    ::setenv("HOME", folder_.c_str(), 1);
    ::unsetenv("LD_PRELOAD");
    if (::chdir(folder_.c_str()) == 0) ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  std::string run(const std::vector<std::string>& words) const {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    const pid_t pid = spawn(words, ends[1]);
    ::close(ends[1]);
    std::string printed;
    char buffer[4096];
    for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;)
      printed.append(buffer, static_cast<std::size_t>(got));
    ::close(ends[0]);
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (status != 0) throw std::runtime_error(words[0] + " failed: " + output());
    while (printed.ends_with('\n')) printed.pop_back();
    return printed;
  }
  bool ready() const {
    const pid_t pid = spawn({"pg_isready", "-q", "-h", "127.0.0.1", "-p", std::to_string(port_)});
    int status = 0;
    ::waitpid(pid, &status, 0);
    return status == 0;
  }
  std::string output() const {
    std::ifstream in(folder_ / "output");
    return {std::istreambuf_iterator<char>(in), {}};
  }

  const int port_;
  const std::filesystem::path folder_;
  pid_t pid_ = -1;
  mutable int databases_ = 0;
};

// The one of this program; it ends with the program.
inline Postgres& shared_postgres() {
  static Postgres server;
  return server;
}

}  // namespace muster::testing
