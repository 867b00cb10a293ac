// Whether it lives, what it is, and what it has to offer.
#include <algorithm>
#include <charconv>

#include "host/taskcluster_api/handlers.hpp"
#include "host/taskcluster_api/page.hpp"
#include "host/taskcluster_api/pretty_text.hpp"

namespace muster::taskcluster_api {

void ping(const CallPtr& call) {
  const std::chrono::duration<double> up = call->parts().clock->steady() - call->api().started;
  PrettyText text;
  text.begin_object().key("alive").boolean(true);
  text.key("uptime").value(json::value(up.count())).end_object();
  call->answer(text.take());
}

void heartbeat_of_load_balancers(const CallPtr& call) {
  call->answer("{}");
}

void heartbeat(const CallPtr& call) {
  if (can_change(call)) call->answer("{}");
}

void version(const CallPtr& call) {
  PrettyText text;
  text.begin_object().key("version").string(call->parts().version);
  text.key("commit").string("").key("source").string("muster").key("build").string("");
  call->answer(text.end_object().take());
}

// Providers are few, so their tokens are just how many came before.
void list_providers(const CallPtr& call) {
  constexpr std::size_t usual_page = 100;
  const std::vector<ProviderInfo> providers = call->parts().providers();
  const auto number = [&](const char* name, std::size_t otherwise) {
    const auto text = call->query(name);
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
  call->answer(text.end_object().take());
}

}  // namespace muster::taskcluster_api
