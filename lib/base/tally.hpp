// How many things each name has open, so that none opens too many.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace muster {

// THREADS: any.
class Tally {
 public:
  // Open for as long as it is held; it may outlive the tally.
  using Seat = std::shared_ptr<void>;

  // Null if the name has `most` of them.
  Seat open(const std::string& name, std::int64_t most) {
    const std::lock_guard lock(counts_->mutex);
    std::int64_t& count = counts_->of[name];
    if (count >= most) return nullptr;
    ++count;
    return Seat(this, [counts = counts_, name](void*) {
      const std::lock_guard closing(counts->mutex);
      const auto found = counts->of.find(name);
      if (--found->second == 0) counts->of.erase(found);
    });
  }

 private:
  struct Counts {
    std::mutex mutex;
    std::map<std::string, std::int64_t> of;
  };
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

}  // namespace muster
