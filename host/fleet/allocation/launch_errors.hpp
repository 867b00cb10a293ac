// What an error of a launch says about the launch.
#pragma once

#include <muster/error.hpp>

namespace muster::fleet {

// After such an error it is not known whether an instance was launched.
inline bool leaves_doubt(ErrorClass error_class) {
  return error_class == ErrorClass::transient || error_class == ErrorClass::cancelled ||
         error_class == ErrorClass::internal;
}

}  // namespace muster::fleet
