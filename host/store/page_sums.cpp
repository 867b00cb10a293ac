#include "host/store/page_sums.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

namespace muster::store {
namespace {

// Finds accidents, not forgeries; four lanes, because a page is summed at every read.
std::uint64_t sum_of(std::span<const unsigned char> bytes) {
  constexpr std::uint64_t factor = 0x9e3779b97f4a7c15;
  std::array<std::uint64_t, 4> lanes{1, 2, 3, 4};
  std::size_t at = 0;
  for (; at + sizeof lanes <= bytes.size(); at += sizeof lanes) {
    std::array<std::uint64_t, 4> words{};
    std::memcpy(words.data(), bytes.data() + at, sizeof words);
    for (std::size_t i = 0; i < lanes.size(); ++i)
      lanes[i] = std::rotl((lanes[i] ^ words[i]) * factor, 29);
  }
  for (; at < bytes.size(); ++at) lanes[0] = std::rotl((lanes[0] ^ bytes[at]) * factor, 29);
  std::uint64_t sum = 0;
  for (const std::uint64_t lane : lanes) sum = std::rotl((sum ^ lane) * factor, 29);
  return sum == 0 ? 1 : sum;
}

std::optional<std::size_t> page_at(const PageLayout& layout, std::int64_t offset,
                                   std::size_t size) {
  if (static_cast<std::int64_t>(size) != layout.size || offset < layout.first) return std::nullopt;
  if ((offset - layout.first) % layout.stride != 0) return std::nullopt;
  return static_cast<std::size_t>((offset - layout.first) / layout.stride);
}

}  // namespace

bool PageSums::fits(std::int64_t offset, std::span<const unsigned char> bytes, bool whole) {
  const std::lock_guard guard(mutex_);
  return compare(offset, bytes, whole);
}

bool PageSums::compare(std::int64_t offset, std::span<const unsigned char> bytes, bool whole) {
  const auto page = page_at(layout_, offset, bytes.size());
  if (!page) return true;
  const bool known = *page < sums_.size() && sums_[*page] != 0;
  if (!known && !whole) return true;
  const std::uint64_t sum = sum_of(bytes);
  if (*page >= sums_.size()) sums_.resize(*page + 1, 0);
  if (!known) sums_[*page] = sum;
  return sums_[*page] == sum;
}

std::int64_t PageSums::pages() const {
  const std::lock_guard guard(mutex_);
  return static_cast<std::int64_t>(sums_.size());
}

void PageSums::note(std::int64_t offset, std::span<const unsigned char> bytes, bool whole) {
  const auto page = page_at(layout_, offset, bytes.size());
  if (page && whole) {
    if (*page >= sums_.size()) sums_.resize(*page + 1, 0);
    sums_[*page] = sum_of(bytes);
    return;
  }
  const auto end = offset + static_cast<std::int64_t>(bytes.size());
  for (auto at = std::max<std::int64_t>(0, (offset - layout_.first) / layout_.stride);
       at < static_cast<std::int64_t>(sums_.size()); ++at) {
    const std::int64_t begins = layout_.first + at * layout_.stride;
    if (begins >= end) return;
    if (begins + layout_.size > offset) sums_[static_cast<std::size_t>(at)] = 0;
  }
}

void PageSums::cut_off(std::int64_t size) {
  const std::lock_guard guard(mutex_);
  const std::int64_t pages = std::max<std::int64_t>(0, (size - layout_.first) / layout_.stride);
  if (pages < static_cast<std::int64_t>(sums_.size()))
    sums_.resize(static_cast<std::size_t>(pages));
}

}  // namespace muster::store
