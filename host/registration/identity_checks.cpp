#include "host/registration/identity_checks.hpp"

#include "lib/http/worker_threads.hpp"

namespace muster::registration {
namespace {

constexpr std::size_t calls_at_once = 4;    // of one provider
constexpr std::size_t longest_line = 1000;  // after a restart a whole fleet registers at once

}  // namespace

IdentityChecks::IdentityChecks(Identify identify, Log log)
    : identify_(std::move(identify)), log_(std::move(log)) {}

IdentityChecks::~IdentityChecks() = default;

void IdentityChecks::stop() {
  std::map<ProviderId, std::unique_ptr<http::WorkerThreads>> lines;
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  lines.swap(lines_);
}

bool IdentityChecks::run(const ProviderId& provider, std::function<void(const Identify&)> check) {
  // Under the lock, so that no thread of a line ever owns it: the owner joins its threads.
  const std::lock_guard lock(mutex_);
  if (stopped_) return false;
  auto& line = lines_[provider];  // of configured providers only, so they are few
  if (!line) line = std::make_unique<http::WorkerThreads>(calls_at_once, longest_line, log_);
  return line->run([this, check = std::move(check)] { check(identify_); });
}

}  // namespace muster::registration
