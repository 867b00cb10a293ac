// Failures as values. Every error says what happened, where, and has a class that the caller acts
// on.
#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <boost/system/result.hpp>

#include <muster/abi.h>

namespace muster {

// What the host does about it is written beside each status in abi.h.
enum class ErrorClass : muster_status {
  invalid = MUSTER_INVALID,
  not_found = MUSTER_NOT_FOUND,
  capacity = MUSTER_CAPACITY,
  quota = MUSTER_QUOTA,
  throttle = MUSTER_THROTTLE,
  auth = MUSTER_AUTH,
  config = MUSTER_CONFIG,
  transient = MUSTER_TRANSIENT,
  unsupported = MUSTER_UNSUPPORTED,
  cancelled = MUSTER_CANCELLED,
  internal = MUSTER_INTERNAL,
};

std::string_view to_string(ErrorClass error_class);
std::optional<ErrorClass> error_class_from(std::string_view name);

// How far an error reaches. All fields empty: the whole provider. Several set: only where all of
// them hold, so that "no m5.large in us-east-1a" does not close the region.
struct ErrorScope {
  std::optional<std::string> region;
  std::optional<std::string> zone;
  std::optional<std::string> instance_type;
  std::optional<std::string> launch_config_id;

  bool whole_provider() const { return !region && !zone && !instance_type && !launch_config_id; }
  friend bool operator==(const ErrorScope&, const ErrorScope&) = default;
};

struct Error {
  ErrorClass error_class = ErrorClass::internal;
  std::string message;    // one sentence for people, with what to do if we know
  ErrorScope scope = {};  // what not to try again for a while
  std::optional<std::chrono::seconds> hold{};  // for how long; the host has defaults by class
  std::string code = {};  // the cloud's own word, "InsufficientInstanceCapacity"

  // So that an error reads as a sentence: `return Error::capacity("zone a is
  // full").in_zone("a").hold_for(3min)`.
  static Error invalid(std::string message) { return {ErrorClass::invalid, std::move(message)}; }
  static Error not_found(std::string message) {
    return {ErrorClass::not_found, std::move(message)};
  }
  static Error capacity(std::string message) { return {ErrorClass::capacity, std::move(message)}; }
  static Error quota(std::string message) { return {ErrorClass::quota, std::move(message)}; }
  static Error throttle(std::string message) { return {ErrorClass::throttle, std::move(message)}; }
  static Error auth(std::string message) { return {ErrorClass::auth, std::move(message)}; }
  static Error config(std::string message) { return {ErrorClass::config, std::move(message)}; }
  static Error transient(std::string message) {
    return {ErrorClass::transient, std::move(message)};
  }
  static Error unsupported(std::string message) {
    return {ErrorClass::unsupported, std::move(message)};
  }
  static Error cancelled(std::string message) {
    return {ErrorClass::cancelled, std::move(message)};
  }
  static Error internal(std::string message) { return {ErrorClass::internal, std::move(message)}; }

  Error in_region(std::string name) && { return scope.region = std::move(name), std::move(*this); }
  Error in_zone(std::string name) && { return scope.zone = std::move(name), std::move(*this); }
  Error of_instance_type(std::string name) && {
    return scope.instance_type = std::move(name), std::move(*this);
  }
  Error of_launch_config(std::string id) && {
    return scope.launch_config_id = std::move(id), std::move(*this);
  }
  Error hold_for(std::chrono::seconds time) && { return hold = time, std::move(*this); }
  Error with_code(std::string word) && { return code = std::move(word), std::move(*this); }

  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Result = boost::system::result<T, Error>;

// Called by Result::value() on an error: a bug of the caller, who should have looked.
[[noreturn]] inline void throw_exception_from_error(const Error& error,
                                                    const boost::source_location&) {
  throw std::runtime_error(error.message);
}

}  // namespace muster
