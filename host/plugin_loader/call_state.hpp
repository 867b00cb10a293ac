// The host's side of one call across the C boundary. Both the host and the cell make calls through
// it.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <string>
#include <string_view>

#include <muster/abi.h>
#include <muster/codec.hpp>

#include "host/plugin_loader/backend.hpp"

namespace muster::plugin_loader {

// Owns what the plugin sees of the call. Must stay alive and in place until the plugin returns,
// even if nobody waits for the answer any more.
class CallState {
 public:
  using Steady = std::chrono::steady_clock;

  CallState(std::string_view method, std::string_view request, Steady::time_point deadline,
            HostServices services)
      : method_(method), request_(request), deadline_(deadline), services_(std::move(services)) {
    raw_.struct_size = sizeof raw_;
    raw_.method = {method_.data(), method_.size()};
    raw_.request = {request_.data(), request_.size()};
    raw_.self = this;
    raw_.cancelled = [](void* self) noexcept -> int { return of(self).is_cancelled(); };
    raw_.reply = [](void* self, muster_bytes part) noexcept { of(self).append(part); };
    raw_.log = [](void* self, int level, muster_bytes line) noexcept { of(self).log(level, line); };
    raw_.now = [](void* self) noexcept -> int64_t {
      return of(self).services_.now().time_since_epoch().count();
    };
    raw_.time_left = [](void* self) noexcept -> int64_t { return of(self).time_left().count(); };
  }
  CallState(const CallState&) = delete;
  CallState& operator=(const CallState&) = delete;

  const muster_call& raw() const { return raw_; }
  void cancel() { cancelled_ = true; }

  std::chrono::milliseconds time_left() const {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Steady::now());
    return std::max(left, std::chrono::milliseconds(0));
  }

  // Runs the plugin's function. The author layer lets no exception out, but a plugin need not use
  // it; an exception that crosses is caught here and told as a violation.
  template <class Function>
  Outcome run(Function function) {
    try {
      const muster_status status = function();
      if (overflow_)
        return {Error::internal("the answer is larger than " +
                                std::to_string(max_reply_size >> 20) + " MiB"),
                Incident::bug};
      if (status == MUSTER_OK) return {std::move(body_)};
      Error error = decode_failure(status, body_);
      const Incident incident =
          error.error_class == ErrorClass::internal ? Incident::bug : Incident::none;
      return {std::move(error), incident};
    } catch (const std::exception& error) {
      return violation(error.what());
    } catch (...) {
      return violation("something that is not a std::exception");
    }
  }

 private:
  static CallState& of(void* self) { return *static_cast<CallState*>(self); }

  static Outcome violation(const std::string& what) {
    return {Error::internal("ABI violation, an exception crossed the boundary: " + what),
            Incident::violation};
  }

  int is_cancelled() const { return cancelled_ || Steady::now() >= deadline_; }

  void append(muster_bytes part) noexcept {
    if (overflow_ || part.size > max_reply_size - body_.size()) {
      overflow_ = true;
      return;
    }
    try {
      body_.append(part.data, part.size);
    } catch (...) {
      overflow_ = true;
    }
  }

  void log(int level, muster_bytes line) noexcept {
    constexpr std::size_t max_line = 16 * 1024;
    try {
      const int known = std::clamp<int>(level, MUSTER_LOG_DEBUG, MUSTER_LOG_ERROR);
      services_.log(static_cast<LogLevel>(known), {line.data, std::min(line.size, max_line)});
    } catch (...) {  // a line that cannot be logged is lost
    }
  }

  const std::string method_, request_;
  const Steady::time_point deadline_;
  const HostServices services_;
  std::atomic<bool> cancelled_{false};
  bool overflow_ = false;
  std::string body_;
  muster_call raw_{};
};

}  // namespace muster::plugin_loader
