// How addresses are hashed.
#pragma once

#include <functional>
#include <string_view>

#include "lib/base/networks.hpp"

namespace muster::relay {

struct AddressHash {
  std::size_t operator()(const Address& address) const {
    return std::hash<std::string_view>()(
        {reinterpret_cast<const char*>(address.data()), address.size()});
  }
};

}  // namespace muster::relay
