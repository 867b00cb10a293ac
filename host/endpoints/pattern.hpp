// The form that a part of a path or a query may have. Matched by hand in linear time; `text` is how
// clients see the form in an error.
#pragma once

#include <string_view>

namespace muster::endpoints {

struct Pattern {
  std::string_view text;  // "/^[0-9]+$/"
  bool (*matches)(std::string_view);
};

}  // namespace muster::endpoints
