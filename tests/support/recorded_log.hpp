// A log whose lines a test can look at.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/base/log.hpp"

namespace muster::testing {

// THREADS: any may log and any may look.
class RecordedLog final : public LogOutput {
 public:
  void write(LogLevel, const std::string& line) override {
    const std::lock_guard guard(mutex_);
    lines_.push_back(line);
  }

  std::vector<std::string> lines() const {
    const std::lock_guard guard(mutex_);
    return lines_;
  }

  bool contains(std::string_view text) const {
    for (const std::string& line : lines())
      if (line.find(text) != std::string::npos) return true;
    return false;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace muster::testing
