#include "lib/base/open_files.hpp"

#include <cerrno>
#include <string>

#include "lib/base/atomic_file.hpp"

namespace muster {

Error too_few_open_files(rlim_t limit, rlim_t least) {
  return Error::config("this process may have only " + std::to_string(limit) +
                       " files open, and needs at least " + std::to_string(least) +
                       ": raise the limit (ulimit -n " + std::to_string(least * 4) +
                       " in the shell that starts it, or LimitNOFILE= in its systemd unit)");
}

Result<void> raise_limit_of_open_files(rlim_t least, rlim_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
    return system_error("read", "the limit of open files", errno);
  if (limit.rlim_max < wanted) {
    const rlimit more{wanted, wanted};  // root may
    if (::setrlimit(RLIMIT_NOFILE, &more) == 0) return {};
  }
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur < least) return too_few_open_files(limit.rlim_cur, least);
  return {};
}

}  // namespace muster
