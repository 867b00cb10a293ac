// Finds slots of a table by a hash of what is in them, in four bytes each: open addressing with
// linear probing.
#pragma once

#include <cstdint>
#include <vector>

namespace muster::worker_state {

using Slot = std::uint32_t;
inline constexpr Slot no_slot = ~Slot{0};

class SlotIndex {
 public:
  // The slot of that hash for which `equal` holds.
  template <class Equal>
  Slot find(std::size_t hash, Equal equal) const {
    if (cells_.empty()) return no_slot;
    for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
      if (cells_[at] == no_slot) return no_slot;
      if (equal(cells_[at])) return cells_[at];
    }
  }

  // `hash_of` says the hash of each slot that is in it.
  template <class HashOf>
  void insert(Slot slot, HashOf hash_of) {
    if ((used_ + 1) * 5 > cells_.size() * 4) grow(hash_of);
    place(slot, hash_of(slot));
    ++used_;
  }

  template <class HashOf>
  void erase(Slot slot, HashOf hash_of) {
    std::size_t hole = hash_of(slot) & mask();
    while (cells_[hole] != slot) hole = (hole + 1) & mask();
    // What comes behind it moves up, unless that is before its own place.
    for (std::size_t at = (hole + 1) & mask(); cells_[at] != no_slot; at = (at + 1) & mask()) {
      const std::size_t home = hash_of(cells_[at]) & mask();
      if (((at - home) & mask()) < ((at - hole) & mask())) continue;
      cells_[hole] = cells_[at];
      hole = at;
    }
    cells_[hole] = no_slot;
    --used_;
  }

 private:
  std::size_t mask() const { return cells_.size() - 1; }

  void place(Slot slot, std::size_t hash) {
    std::size_t at = hash & mask();
    while (cells_[at] != no_slot) at = (at + 1) & mask();
    cells_[at] = slot;
  }

  template <class HashOf>
  void grow(HashOf hash_of) {
    std::vector<Slot> old(cells_.empty() ? 64 : cells_.size() * 2, no_slot);
    old.swap(cells_);
    for (const Slot slot : old)
      if (slot != no_slot) place(slot, hash_of(slot));
  }

  std::vector<Slot> cells_;
  std::size_t used_ = 0;
};

}  // namespace muster::worker_state
