#include "plugins/cloud/pages.hpp"

namespace muster::cloud {

Result<void> for_each_page(json::object parameters,
                           const std::function<Result<json::object>(const json::object&)>& call,
                           const std::function<Result<void>(const json::object&)>& take,
                           const Context& context, const PageSettings& settings) {
  std::string token;
  for (std::size_t page = 0; page < settings.most_pages; ++page) {
    if (page > 0 && context.cancelled())
      return Error::cancelled("the call was cancelled after " + std::to_string(page) +
                              " pages of a list");
    const auto answer = call(parameters);
    if (!answer) return answer.error();
    if (auto taken = take(*answer); !taken) return taken;
    const json::value* const next = answer->if_contains(settings.token_member);
    if (!next || !next->is_string() || next->get_string().empty()) return {};
    if (next->get_string() == token)
      return Error::transient("the cloud gave the same page of a list twice; the list is not used");
    token = next->get_string();
    parameters[settings.token_parameter] = token;
  }
  return Error::transient("a list has more than " + std::to_string(settings.most_pages) +
                          " pages; it is not used");
}

}  // namespace muster::cloud
