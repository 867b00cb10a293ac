// Rows that cannot be read. They stay in their tables as they are, nobody acts on them, and the
// next start tries them again; here is which they are, and why.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <muster/error.hpp>

namespace muster::store {

struct Table;

// THREADS: any.
template <class Value>
class RowsSetAside {
 public:
  // Whether a row with these values could be read.
  using Check = Result<void> (*)(std::span<const Value>);
  struct Entry {
    std::int64_t number = 0;  // its name, as long as the host runs
    const Table* table = nullptr;
    std::vector<Value> row;
    std::size_t key_columns = 0;
    std::string reason;
    Check check = nullptr;
  };

  // A row whose key is known already gets no second entry. Of more than most_kept only their number
  // is kept.
  void add(Entry added) {
    const std::lock_guard guard(mutex_);
    for (const Entry& entry : entries_)
      if (has_same_key(entry, added)) return;
    if (entries_.size() >= most_kept) {
      ++more_;
      return;
    }
    added.number = ++last_;
    entries_.push_back(std::move(added));
  }
  // The row was written anew; it is read at the next start.
  void replace(std::int64_t number, std::vector<Value> row, std::string reason) {
    const std::lock_guard guard(mutex_);
    for (Entry& entry : entries_)
      if (entry.number == number) {
        entry.row = std::move(row);
        entry.reason = std::move(reason);
        return;
      }
  }
  void forget(std::int64_t number) {
    const std::lock_guard guard(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.number == number; });
  }
  // What is read again from the beginning.
  void clear() {
    const std::lock_guard guard(mutex_);
    entries_.clear();
    more_ = 0;
  }
  std::vector<Entry> list() const {
    const std::lock_guard guard(mutex_);
    return entries_;
  }
  std::optional<Entry> find(std::int64_t number) const {
    for (Entry& entry : list())
      if (entry.number == number) return std::move(entry);
    return std::nullopt;
  }
  // Of all, also of those without an entry.
  std::size_t size() const {
    const std::lock_guard guard(mutex_);
    return entries_.size() + more_;
  }
  // There are more than have an entry.
  bool has_more() const {
    const std::lock_guard guard(mutex_);
    return more_ > 0;
  }

  static constexpr std::size_t most_kept = 10'000;

 private:
  static bool has_same_key(const Entry& a, const Entry& b) {
    if (a.table != b.table || a.row.size() < a.key_columns || b.row.size() < a.key_columns)
      return false;
    for (std::size_t i = 0; i < a.key_columns; ++i)
      if (a.row[i] != b.row[i]) return false;
    return true;
  }

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  std::int64_t last_ = 0;
  std::size_t more_ = 0;
};

}  // namespace muster::store
