// The words of an enum: enum_names(E) returns them in the order of the enumerators, which count
// from 0.
#pragma once

#include <cstddef>
#include <string>
#include <type_traits>

namespace muster {

template <class E>
requires std::is_enum_v<E> std::string name_of(E value) {
  return std::string(enum_names(value)[static_cast<std::size_t>(value)]);
}

}  // namespace muster
