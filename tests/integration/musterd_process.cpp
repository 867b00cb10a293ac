#include "tests/integration/musterd_process.hpp"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <signal.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/end_with_parent.hpp"

namespace muster::testing {
namespace fs = std::filesystem;
namespace {

constexpr int patience_milliseconds = 30'000;

}  // namespace

Process::Process(const std::string& program, const std::vector<std::string>& arguments,
                 const Variables& variables) {
  std::vector<std::string> words{(fs::path(MUSTER_PROGRAMS) / program).string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> settings{"PATH=/usr/bin:/bin"};
  for (const auto& [name, value] : variables) settings.push_back(name + "=" + value);
  std::vector<char*> argv, environment;
  for (std::string& word : words) argv.push_back(word.data());
  for (std::string& setting : settings) environment.push_back(setting.data());
  argv.push_back(nullptr);
  environment.push_back(nullptr);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    end_with_parent(parent);
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(ends[1], STDERR_FILENO);
    ::execve(argv[0], argv.data(), environment.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  pipe_ = FileDescriptor(ends[0]);
}

Process::~Process() {
  if (exit_code_ >= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Process::signal(int number) const {
  ::kill(pid_, number);
}

bool Process::read_some() {
  pollfd waiting{pipe_.get(), POLLIN, 0};
  if (::poll(&waiting, 1, patience_milliseconds) <= 0)
    throw std::runtime_error("nothing happened for too long; so far:\n" + output_);
  char part[4096];
  const ssize_t got = ::read(pipe_.get(), part, sizeof part);
  if (got <= 0) return false;
  output_.append(part, static_cast<std::size_t>(got));
  return true;
}

void Process::wait_for(const std::string& text) {
  while (output_.find(text) == std::string::npos)
    if (!read_some()) throw std::runtime_error("\"" + text + "\" never came:\n" + output_);
}

int Process::exit_code() {
  if (exit_code_ >= 0) return exit_code_;
  while (read_some()) {
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit_code_;
}

Musterd::Musterd(const std::string& more_configuration, const Variables& variables,
                 std::string plugin_folder)
    : variables_(variables), plugin_folder_(std::move(plugin_folder)) {
  configure(more_configuration);
  start();
}

void Musterd::start() {
  process_ = std::make_unique<Process>(
      "musterd", std::vector<std::string>{"--config", configuration_file().string()}, variables_);
  process_->wait_for("musterd serves http");
}

void Musterd::kill() {
  process_->signal(SIGKILL);
  process_->exit_code();
  process_.reset();
}

void Musterd::configure(const std::string& more_configuration) {
  more_configuration_ = more_configuration;
  std::ofstream(configuration_file())
      << "listen = \"127.0.0.1:" << listens_on_ << "\"\ndataDirectory = \"data\"\n"
      << "pluginFolders = [\"" << plugin_folder_ << "\"]\n"
      << more_configuration_;
}

void Musterd::keep_port() {
  listens_on_ = port();
  configure(more_configuration_);
}

cli::HostAddress Musterd::address() const {
  cli::HostOptions options;
  options.data_directory = data_directory().string();
  const auto found = cli::find_host(options, [](const char*) { return std::string(); });
  if (!found) throw std::runtime_error(found.error().message);
  return *found;
}

std::uint16_t Musterd::port() const {
  const std::string url = address().url;
  return static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
}

json::object Musterd::status() const {
  const auto answer = client().get("/api/muster/v1/status");
  if (!answer) throw std::runtime_error(answer.error().message);
  return answer->as_object();
}

Finished run(const std::string& program, const std::vector<std::string>& arguments,
             const Variables& variables) {
  Process process(program, arguments, variables);
  const int code = process.exit_code();
  return {code, process.output()};
}

Command isolated(const std::string& program, const std::vector<std::string>& arguments) {
  const std::string unshare = "/usr/bin/unshare";
  std::vector<std::string> words{"--net", "--mount"};
  const std::vector<std::string> as_user{"--user", "--map-root-user"};
  std::vector<std::string> probe = as_user;
  probe.insert(probe.end(), {"--net", "--mount", "/bin/true"});
  if (run(unshare, probe).exit_code == 0)
    words.insert(words.begin(), as_user.begin(), as_user.end());
  words.insert(words.end(), {"/bin/sh", "-c",
                             "mount -t tmpfs tmpfs /var/lib && PATH=$PATH:/sbin ip link set lo up "
                             "&& exec \"$0\" \"$@\"",
                             (fs::path(MUSTER_PROGRAMS) / program).string()});
  words.insert(words.end(), arguments.begin(), arguments.end());
  return {unshare, std::move(words)};
}

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace muster::testing
