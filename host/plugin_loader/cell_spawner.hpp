// Starts cells. One for the whole host.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

#include <muster/error.hpp>

#include "lib/base/file_descriptor.hpp"

namespace muster::plugin_loader {

// A started process: the host's ends of its socket and of its output.
struct CellProcess {
  pid_t pid = -1;
  FileDescriptor pid_fd;  // readable when the process has ended
  FileDescriptor socket;
  FileDescriptor
      output;  // what it printed to standard output and standard error; never blocks either side
};

// The kernel kills a cell when the *thread* that started it ends (PR_SET_PDEATHSIG), so all cells
// are started by one thread that lives as long as the host: no cell outlives it, even a stopped
// one.
class CellSpawner {
 public:
  // `program` is muster-cell.
  explicit CellSpawner(const std::filesystem::path& program);
  ~CellSpawner();
  CellSpawner(const CellSpawner&) = delete;
  CellSpawner& operator=(const CellSpawner&) = delete;

  // `environment`: names of variables to hand on; all others are withheld, but for a few harmless
  // ones. THREADS: any.
  Result<CellProcess> spawn(const std::vector<std::string>& environment);

 private:
  void run();

  const std::filesystem::path program_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  bool leaving_ = false;
  std::thread thread_;
};

}  // namespace muster::plugin_loader
