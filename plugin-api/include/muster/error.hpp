// Failures as values. Every error says what happened, where, and has a class that the caller acts
// on.
#pragma once

#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

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

[[noreturn]] void throw_error(const Error& error);
const Error& no_error() noexcept;

// A value or an error. Nobody may ignore one by accident: the compiler warns of every call whose
// Result is not looked at, and this project's builds make an error of that warning.
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  using error_type = Error;

  Result() requires std::default_initializable<T> : value_(), has_value_(true) {}
  Result(Error error) : error_(std::move(error)), has_value_(false) {}
  template <class U>
  requires(std::is_convertible_v<U, T> && !std::is_convertible_v<U, Error> &&
           !std::is_same_v<std::remove_cvref_t<U>, Result>) Result(U&& value)
      : value_(std::forward<U>(value)), has_value_(true) {}

  Result(const Result& other) requires std::copy_constructible<T> : has_value_(other.has_value_) {
    if (has_value_)
      std::construct_at(&value_, other.value_);
    else
      std::construct_at(&error_, other.error_);
  }
  Result(Result&& other) noexcept : has_value_(other.has_value_) {
    if (has_value_)
      std::construct_at(&value_, std::move(other.value_));
    else
      std::construct_at(&error_, std::move(other.error_));
  }
  Result& operator=(Result other) noexcept {
    std::destroy_at(this);
    std::construct_at(this, std::move(other));
    return *this;
  }
  ~Result() {
    if (has_value_)
      std::destroy_at(&value_);
    else
      std::destroy_at(&error_);
  }

  bool has_value() const noexcept { return has_value_; }
  bool has_error() const noexcept { return !has_value_; }
  explicit operator bool() const noexcept { return has_value_; }

  // Only if there is a value. Of a temporary the value itself, so that it lives as long as its
  // name.
  T& operator*() & noexcept { return value_; }
  const T& operator*() const& noexcept { return value_; }
  T operator*() && noexcept { return std::move(value_); }
  T* operator->() noexcept { return has_value_ ? &value_ : nullptr; }
  const T* operator->() const noexcept { return has_value_ ? &value_ : nullptr; }

  // Throws std::runtime_error if there is none: a bug of the caller, who should have looked.
  T& value() & { return require_value(), value_; }
  const T& value() const& { return require_value(), value_; }
  T value() && { return require_value(), std::move(value_); }

  // An empty error of class `internal` if there is a value.
  const Error& error() const& noexcept { return has_value_ ? no_error() : error_; }
  Error error() && noexcept { return has_value_ ? Error{} : std::move(error_); }

  friend bool operator==(const Result& left, const Result& right) {
    if (left.has_value_ != right.has_value_) return false;
    return left.has_value_ ? left.value_ == right.value_ : left.error_ == right.error_;
  }

 private:
  void require_value() const {
    if (!has_value_) throw_error(error_);
  }

  union {
    T value_;
    Error error_;
  };
  bool has_value_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  using error_type = Error;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const noexcept { return !error_; }
  bool has_error() const noexcept { return error_.has_value(); }
  explicit operator bool() const noexcept { return !error_; }

  void value() const {
    if (error_) throw_error(*error_);
  }
  const Error& error() const& noexcept { return error_ ? *error_ : no_error(); }
  Error error() && noexcept { return error_ ? std::move(*error_) : Error{}; }

  friend bool operator==(const Result&, const Result&) = default;

 private:
  std::optional<Error> error_;
};

}  // namespace muster
