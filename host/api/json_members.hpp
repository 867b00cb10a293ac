// Members of documents that several views have.
#pragma once

#include <string>

#include <muster/codec.hpp>
#include <muster/enum_name.hpp>

namespace muster::api {

inline void put_time(json::object& into, const char* name, Time time) {
  if (time != Time{} && time != Time::max()) into[name] = format_time(time);
}

}  // namespace muster::api
