#include "host/plugin_loader/cell_spawner.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <future>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/plugin_loader/wire.hpp"
#include "lib/process/spawn_settings.hpp"

extern "C" {  // glibc 2.36 forgot this in the header
#include <sys/pidfd.h>
}

namespace muster::plugin_loader {
namespace {

Error failure(const char* what, int error_number) {
  return Error::transient(std::string("a cell cannot be started: ") + what + ": " +
                          std::strerror(error_number));
}

// A plugin must not find the host's secrets in its environment.
std::vector<std::string> reduced_environment(const std::vector<std::string>& names) {
  std::vector<std::string> kept{"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"};
  std::vector<std::string> wanted{"TZ", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS",
                                  "LSAN_OPTIONS"};
  wanted.insert(wanted.end(), names.begin(), names.end());
  for (const std::string& name : wanted)
    if (const char* value = std::getenv(name.c_str())) kept.push_back(name + "=" + value);
  return kept;
}

Result<CellProcess> spawn_here(const std::filesystem::path& program,
                               const std::vector<std::string>& names) {
  int sockets[2], output[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return failure("socketpair", errno);
  CellProcess cell;
  cell.socket = FileDescriptor(sockets[0]);
  const FileDescriptor cell_end(sockets[1]);
  if (::pipe2(output, O_CLOEXEC | O_NONBLOCK) != 0) return failure("pipe", errno);
  cell.output = FileDescriptor(output[0]);
  const FileDescriptor output_end(output[1]);

  SpawnSettings settings;
  ::posix_spawn_file_actions_addopen(&settings.actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&settings.actions, output_end.get(), 1);
  ::posix_spawn_file_actions_adddup2(&settings.actions, output_end.get(), 2);
  ::posix_spawn_file_actions_adddup2(&settings.actions, cell_end.get(), wire::cell_socket);
  ::posix_spawn_file_actions_addclosefrom_np(&settings.actions, wire::cell_socket + 1);
  // A group of its own: Ctrl-C in the host's terminal is not for cells, and what a plugin starts
  // can be killed with it.
  sigset_t none;
  sigemptyset(&none);
  sigset_t all;
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&settings.attributes, &none);
  ::posix_spawnattr_setsigdefault(&settings.attributes, &all);
  ::posix_spawnattr_setpgroup(&settings.attributes, 0);
  ::posix_spawnattr_setflags(
      &settings.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<std::string> arguments{program.string(), std::to_string(::getpid())};
  std::vector<std::string> environment = reduced_environment(names);
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (std::string& text : texts) list.push_back(text.data());
    list.push_back(nullptr);
    return list;
  };
  const int failed =
      ::posix_spawn(&cell.pid, program.c_str(), &settings.actions, &settings.attributes,
                    pointers(arguments).data(), pointers(environment).data());
  if (failed != 0) return failure(program.c_str(), failed);
  cell.pid_fd = FileDescriptor(::pidfd_open(cell.pid, 0));
  return cell;
}

}  // namespace

CellSpawner::CellSpawner(const std::filesystem::path& program)
    : program_(std::filesystem::absolute(program)), thread_([this] { run(); }) {}

CellSpawner::~CellSpawner() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Result<CellProcess> CellSpawner::spawn(const std::vector<std::string>& environment) {
  std::promise<Result<CellProcess>> promise;
  auto spawned = promise.get_future();
  {
    const std::lock_guard lock(mutex_);
    tasks_.emplace_back([&] { promise.set_value(spawn_here(program_, environment)); });
  }
  changed_.notify_all();
  return spawned.get();
}

void CellSpawner::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return leaving_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    const auto task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace muster::plugin_loader
