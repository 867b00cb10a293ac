// Members of documents that several views have.
#pragma once

#include <string>

#include <muster/codec.hpp>

namespace muster::api {

template <class E>
std::string name_of(E value) {
  return std::string(enum_names(value)[static_cast<std::size_t>(value)]);
}

inline void put_time(json::object& into, const char* name, Time time) {
  if (time != Time{} && time != Time::max()) into[name] = format_time(time);
}

}  // namespace muster::api
