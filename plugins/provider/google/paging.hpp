// Lists that Google gives in pages.
#pragma once

#include <functional>

#include "plugins/provider/google/api.hpp"

namespace muster::google {

// Gives each page to `take` until that returns false. Fails with the first page that fails: half a
// list must not be taken for a whole one.
Result<void> for_each_page(Api& api, const Call& call, const Context& context,
                           const std::function<bool(const json::object&)>& take);

}  // namespace muster::google
