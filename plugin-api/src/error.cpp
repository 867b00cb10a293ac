#include <array>
#include <stdexcept>

#include <muster/error.hpp>

namespace muster {
namespace {

constexpr std::array<std::pair<ErrorClass, std::string_view>, 11> names{{
    {ErrorClass::invalid, "invalid"},
    {ErrorClass::not_found, "notFound"},
    {ErrorClass::capacity, "capacity"},
    {ErrorClass::quota, "quota"},
    {ErrorClass::throttle, "throttle"},
    {ErrorClass::auth, "auth"},
    {ErrorClass::config, "config"},
    {ErrorClass::transient, "transient"},
    {ErrorClass::unsupported, "unsupported"},
    {ErrorClass::cancelled, "cancelled"},
    {ErrorClass::internal, "internal"},
}};

}  // namespace

std::string_view to_string(ErrorClass error_class) {
  for (const auto& [known, name] : names)
    if (known == error_class) return name;
  return "unknown";
}

std::optional<ErrorClass> error_class_from(std::string_view name) {
  for (const auto& [error_class, known] : names)
    if (known == name) return error_class;
  return std::nullopt;
}

void throw_error(const Error& error) {
  throw std::runtime_error(error.message);
}

const Error& no_error() noexcept {
  static const Error none;
  return none;
}

}  // namespace muster
