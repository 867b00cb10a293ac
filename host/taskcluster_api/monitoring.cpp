// Whether it lives, what it is, and what it has to offer.
#include <algorithm>
#include <charconv>

#include "host/taskcluster_api/handlers.hpp"
#include "host/taskcluster_api/page.hpp"
#include "host/taskcluster_api/pretty_text.hpp"

namespace muster::taskcluster_api {

Answer ping(const Call& call) {
  const std::chrono::duration<double> up = parts_of(call).clock->steady() - api_of(call).started;
  PrettyText text;
  text.begin_object().key("alive").boolean(true);
  text.key("uptime").value(json::value(up.count())).end_object();
  return text.take();
}

Answer answer_load_balancer(const Call&) {
  return std::string("{}");
}

void heartbeat(const CallPtr& call) {
  if (can_change(call)) call->answer("{}");
}

Answer version(const Call& call) {
  PrettyText text;
  text.begin_object().key("version").string(parts_of(call).version);
  text.key("commit").string("").key("source").string("muster").key("build").string("");
  return text.end_object().take();
}

// Providers are few, so their tokens are just how many came before.
Answer list_providers(const Call& call) {
  constexpr std::size_t usual_page = 100;
  const std::vector<ProviderInfo> providers = parts_of(call).providers();
  const auto number = [&](const char* name, std::size_t otherwise) {
    const auto text = call.query().find(name);
    if (!text) return otherwise;
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    return error == std::errc() ? value : providers.size();
  };
  const std::size_t start = std::min(number("continuationToken", 0), providers.size());
  const std::size_t limit = std::min(number("limit", usual_page), providers.size() - start);
  PrettyText text;
  text.begin_object().key("providers").begin_array();
  for (std::size_t i = start; i < start + limit; ++i)
    text.item()
        .begin_object()
        .key("providerId")
        .string(providers[i].id.str())
        .key("providerType")
        .string(providers[i].plugin)
        .end_object();
  text.end_array();
  if (limit > 0 && start + limit < providers.size())
    text.key("continuationToken").string(std::to_string(start + limit));
  return text.end_object().take();
}

}  // namespace muster::taskcluster_api
