// Lists that a cloud gives in pages.
#pragma once

#include <functional>
#include <string>

#include <muster/context.hpp>
#include <muster/error.hpp>
#include <muster/json.hpp>

namespace muster::cloud {

struct PageSettings {
  std::string token_parameter = "NextToken";  // of the request
  std::string token_member = "NextToken";     // of the answer; empty or absent: the last page
  std::size_t most_pages = 10'000;
};

// Calls `call` for one page after the other and gives each to `take`. Fails with the first page
// that fails, if the context is cancelled between two, and if the cloud gives the same token twice
// in a row or has no end: half a list must not be taken for a whole one.
Result<void> for_each_page(json::object parameters,
                           const std::function<Result<json::object>(const json::object&)>& call,
                           const std::function<Result<void>(const json::object&)>& take,
                           const Context& context, const PageSettings& settings = {});

}  // namespace muster::cloud
