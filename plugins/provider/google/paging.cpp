#include "plugins/provider/google/paging.hpp"

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/pages.hpp"

namespace muster::google {

Result<void> for_each_page(Api& api, const Call& call, const Context& context,
                           const std::function<bool(const json::object&)>& take) {
  return cloud::for_each_page(
      {},
      [&](const json::object& parameters) {
        Call page = call;
        if (const std::string token = cloud::text_of(parameters, "pageToken"); !token.empty())
          page.query["pageToken"] = token;
        auto answer = api.call(page, context);
        if (!answer) return answer;
        if (!take(*answer)) answer->erase("nextPageToken");
        return answer;
      },
      [](const json::object&) { return Result<void>(); }, context,
      {.token_parameter = "pageToken", .token_member = "nextPageToken"});
}

}  // namespace muster::google
