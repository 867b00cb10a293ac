#include "host/plugin_loader/cell_limits.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace muster::plugin_loader {
namespace {

Error failure(const std::string& what) {
  return Error::config("the cell cannot " + what + ": " + std::strerror(errno));
}

Result<void> limit(__rlimit_resource resource, std::int64_t amount, const char* what) {
  if (amount <= 0) return {};
  const rlim_t wanted = static_cast<rlim_t>(amount);
  const rlimit both{wanted, wanted};
  if (::setrlimit(resource, &both) == 0) return {};
  // A limit that is there already may be less, and not even root can raise it in a container: then
  // it is kept.
  rlimit now{};
  if (errno == EPERM && ::getrlimit(resource, &now) == 0 && now.rlim_max < wanted) {
    now.rlim_cur = now.rlim_max;
    if (::setrlimit(resource, &now) == 0) return {};
  }
  return failure(std::string("limit its ") + what + " to " + std::to_string(amount));
}

Result<void> become(const std::string& user) {
  if (user.empty()) return {};
  const passwd* entry = ::getpwnam(user.c_str());
  if (entry == nullptr)
    return Error::config("there is no user \"" + user + "\" to run the cell as");
  if (::geteuid() == entry->pw_uid) return {};
  if (::geteuid() != 0)
    return Error::config("only a host that runs as root can run a cell as another user (\"" + user +
                         "\")");
  if (::initgroups(user.c_str(), entry->pw_gid) != 0 || ::setgid(entry->pw_gid) != 0 ||
      ::setuid(entry->pw_uid) != 0)
    return failure("become the user \"" + user + "\"");
  return {};
}

}  // namespace

Result<void> limit_this_process(const CellLimits& limits, pid_t host_pid) {
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
#ifndef MUSTER_SANITIZED  // sanitizers need the whole address space
  if (const auto done = limit(RLIMIT_AS, limits.memory_bytes, "memory"); !done) return done;
#endif
  if (const auto done = limit(RLIMIT_NOFILE, limits.open_files, "open files"); !done) return done;
  if (const auto done = limit(RLIMIT_CPU, limits.cpu_seconds, "processor time"); !done) return done;
  if (const auto done = become(limits.user); !done) return done;
  if (const auto done = limit(RLIMIT_NPROC, limits.processes, "processes"); !done) return done;
  // After the change of the user, which would undo both.
  ::prctl(PR_SET_DUMPABLE, 0);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != host_pid) std::_Exit(EXIT_FAILURE);  // it died before we asked
  return {};
}

}  // namespace muster::plugin_loader
