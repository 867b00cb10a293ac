// The time of the latest request of each client with replay protection, kept in a file, so that a
// restarted host takes no request that it took before. Private to this folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include <muster/error.hpp>

namespace muster::auth {

// The file is mapped into memory: noting a time costs a store to memory, and the kernel keeps it
// when the process is killed. After a start of the machine, or without the file, no request from
// before the start of the host is taken. Clients share slots by chance, which can only make the
// host refuse more. THREADS: open() before all others; then any.
class SeenTimes {
 public:
  SeenTimes() = default;
  ~SeenTimes();
  SeenTimes(const SeenTimes&) = delete;
  SeenTimes& operator=(const SeenTimes&) = delete;

  // `now` in seconds. On failure times are not kept, and nothing from before `now` is taken.
  Result<void> open(const std::filesystem::path& file, std::int64_t now);

  // Requests of this client up to this second may have been taken by the process before this one.
  std::int64_t before_start(std::string_view client_id) const;
  void note(std::string_view client_id, std::int64_t ts);

 private:
  static constexpr std::size_t slots = 4096;
  struct Page;
  static std::size_t slot_of(std::string_view client_id);
  Result<Page*> map(const std::filesystem::path& file) const;

  Page* page_ = nullptr;
  std::vector<std::int64_t> before_start_;  // empty: nothing is refused
};

}  // namespace muster::auth
