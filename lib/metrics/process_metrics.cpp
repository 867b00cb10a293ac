#include <cstdio>
#include <filesystem>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/metrics/metrics.hpp"

namespace muster::metrics {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double resident_bytes() {
  long long all = 0, resident = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%lld %lld", &all, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double open_files() {
  std::error_code error;
  double count = 0;
  std::filesystem::directory_iterator files("/proc/self/fd", error);
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) ++count;
  return count;
}

}  // namespace

void write_process_metrics(Page& page) {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  page.counter("process_cpu_seconds_total", "Processor time of the host's own process",
               seconds(used.ru_utime) + seconds(used.ru_stime));
  page.gauge("process_resident_memory_bytes", "Memory that the process has now", resident_bytes());
  page.gauge("process_open_fds", "Open file descriptors", open_files());
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0)
    page.gauge("process_max_fds", "File descriptors that may be open",
               static_cast<double>(limit.rlim_cur));
}

}  // namespace muster::metrics
