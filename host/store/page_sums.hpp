// What the host wrote into the pages of a file, as sums in memory: a later reader of a page sees
// whether it still holds that. A page that was there before is taken as it is first read.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace muster::store {

// Where the pages of a file lie: page i begins at `first` + i * `stride`.
struct PageLayout {
  std::int64_t first = 0;
  std::int64_t stride = 0;
  std::int64_t size = 0;
};

// THREADS: any.
class PageSums {
 public:
  explicit PageSums(PageLayout layout) : layout_(layout) {}

  // These bytes were read there; `whole`: and not made up, because the file ends before. False: it
  // is a page, and other bytes were written into it.
  bool fits(std::int64_t offset, std::span<const unsigned char> bytes, bool whole);

  // Calls `write`, which puts these bytes there; a page that a failed or partial write may have
  // changed is not known any more. Returns what `write` returned, 0 if all is well.
  template <class Write>
  int written(std::int64_t offset, std::span<const unsigned char> bytes, Write&& write) {
    const std::lock_guard guard(mutex_);
    const int code = write();
    note(offset, bytes, code == 0);
    return code;
  }

  // Calls `read`, which fills `bytes` and says whether they are whole, while nobody writes.
  template <class Read>
  bool still_fits(std::int64_t offset, std::span<const unsigned char> bytes, Read&& read) {
    const std::lock_guard guard(mutex_);
    const bool whole = read();
    return compare(offset, bytes, whole);
  }

  void cut_off(std::int64_t size);
  void forget() { cut_off(0); }
  std::int64_t pages() const;  // known or not, up to the last one that is
  const PageLayout& layout() const { return layout_; }

 private:
  bool compare(std::int64_t offset, std::span<const unsigned char> bytes, bool whole);
  void note(std::int64_t offset, std::span<const unsigned char> bytes, bool whole);

  const PageLayout layout_;
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> sums_;  // 0: not known
};

}  // namespace muster::store
