#include "host/auth/seen_times.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/crypto/sha256.hpp"

namespace muster::auth {
namespace {

constexpr std::size_t id_size = 64;
constexpr const char* form = "seen-times of muster, 1 ";

// Of the machine's start, because what the kernel kept is gone after it.
std::string current_id() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  std::getline(file, boot);
  std::string id = form + boot;
  id.resize(id_size - 1);
  return id;
}

Error failed(const std::filesystem::path& file, const char* what) {
  return Error::internal(file.string() + ": " + what + ": " + std::strerror(errno));
}

}  // namespace

struct SeenTimes::Page {
  char id[id_size];
  std::int64_t latest[slots];
};

SeenTimes::~SeenTimes() {
  if (page_) ::munmap(page_, sizeof *page_);
}

Result<SeenTimes::Page*> SeenTimes::map(const std::filesystem::path& file) const {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return failed(file, "cannot be opened");
  // All of it is allocated now: a full disk would otherwise end the process at a store to memory.
  const int allocated = ::posix_fallocate(descriptor, 0, sizeof(Page));
  void* const place = allocated == 0 ? ::mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE,
                                              MAP_SHARED, descriptor, 0)
                                     : MAP_FAILED;
  if (allocated != 0) errno = allocated;
  const auto error = failed(file, "cannot be mapped");
  ::close(descriptor);
  if (place == MAP_FAILED) return error;
  return static_cast<Page*>(place);
}

Result<void> SeenTimes::open(const std::filesystem::path& file, std::int64_t now) {
  before_start_.assign(slots, now);
  const auto mapped = map(file);
  if (!mapped) return mapped.error();
  page_ = *mapped;
  const std::string id = current_id();
  if (std::memcmp(page_->id, id.c_str(), id_size) == 0) {
    before_start_.assign(page_->latest, page_->latest + slots);
    return {};
  }
  std::fill(page_->latest, page_->latest + slots, now);
  std::memcpy(page_->id, id.c_str(), id_size);
  return {};
}

// The same in every process, unlike std::hash.
std::size_t SeenTimes::slot_of(std::string_view client_id) {
  const Sha256 digest = sha256(client_id);
  return (std::size_t{digest[0]} << 8 | digest[1]) % slots;
}

std::int64_t SeenTimes::before_start(std::string_view client_id) const {
  return before_start_.empty() ? INT64_MIN : before_start_[slot_of(client_id)];
}

void SeenTimes::note(std::string_view client_id, std::int64_t ts) {
  if (!page_) return;
  const std::atomic_ref<std::int64_t> latest(page_->latest[slot_of(client_id)]);
  std::int64_t known = latest.load(std::memory_order_relaxed);
  while (known < ts && !latest.compare_exchange_weak(known, ts, std::memory_order_relaxed)) {
  }
}

}  // namespace muster::auth
