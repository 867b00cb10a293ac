#include "host/worker_manager/identity_checks.hpp"

#include "host/http/worker_threads.hpp"

namespace muster::worker_manager {
namespace {

constexpr std::size_t calls_at_once = 4;    // of one provider
constexpr std::size_t longest_line = 1000;  // a fleet that starts anew registers all at once

}  // namespace

IdentityChecks::IdentityChecks(Identify identify, Log log)
    : identify_(std::move(identify)), log_(std::move(log)) {}

IdentityChecks::~IdentityChecks() = default;

bool IdentityChecks::check(const ProviderId& provider, IdentifyRequest request,
                           std::function<void(Result<Identity>)> done) {
  http::WorkerThreads* line = nullptr;
  {
    const std::lock_guard lock(mutex_);
    auto& threads = lines_[provider];  // of configured providers only, so they are few
    if (!threads)
      threads = std::make_unique<http::WorkerThreads>(calls_at_once, longest_line, log_);
    line = threads.get();
  }
  return line->run([this, provider, request = std::move(request), done = std::move(done)] {
    done(identify_(provider, request));
  });
}

}  // namespace muster::worker_manager
