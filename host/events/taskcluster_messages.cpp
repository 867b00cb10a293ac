#include "host/events/taskcluster_messages.hpp"

#include <algorithm>
#include <array>

#include <muster/codec.hpp>

#include "host/events/event_block.hpp"

namespace muster::events {
namespace {

constexpr std::size_t longest_routing_key = 255, longest_title = 128;

enum class Shape { pool, worker, removed_worker, error, launch_config, whole_event };

struct Route {
  std::string_view kind, exchange;
  Shape shape;
};

// A worker is "requested" for Taskcluster when it has an id, which is when it was launched; our
// worker-requested has none yet, so there is no message for it. It is "removed" when it is decided
// to stop it, because the reason is known then.
constexpr std::array routes{
    Route{"worker-pool-created", "worker-pool-created", Shape::pool},
    Route{"worker-pool-updated", "worker-pool-updated", Shape::pool},
    Route{"worker-pool-removed", "worker-pool-removed", Shape::pool},
    Route{"worker-launched", "worker-requested", Shape::worker},
    Route{"worker-running", "worker-running", Shape::worker},
    Route{"worker-stopping", "worker-removed", Shape::removed_worker},
    Route{"worker-stopping", "worker-stopping", Shape::removed_worker},
    Route{"worker-stopped", "worker-stopped", Shape::worker},
    Route{"worker-error", "worker-pool-error", Shape::error},
    Route{"launch-configuration-created", "launch-config-created", Shape::launch_config},
    Route{"launch-configuration-updated", "launch-config-updated", Shape::launch_config},
    Route{"launch-configuration-archived", "launch-config-archived", Shape::launch_config},
    Route{"launch-configuration-paused", "launch-config-paused", Shape::launch_config},
    Route{"launch-configuration-resumed", "launch-config-resumed", Shape::launch_config},
    Route{"hold-began", "hold-began", Shape::whole_event},
    Route{"hold-ended", "hold-ended", Shape::whole_event},
    Route{"provider-up", "provider-up", Shape::whole_event},
    Route{"provider-down", "provider-down", Shape::whole_event},
    Route{"instance-unknown", "instance-unknown", Shape::whole_event},
    Route{"machine-refused", "machine-refused", Shape::whole_event},
    Route{"worker-pool-fault", "worker-pool-fault", Shape::whole_event},
    Route{"listing-doubted", "listing-doubted", Shape::whole_event},
    Route{"listing-believed", "listing-believed", Shape::whole_event},
    Route{"worker-quarantined", "worker-quarantined", Shape::whole_event},
    Route{"worker-released", "worker-released", Shape::whole_event},
    Route{"outcomes-quarantined", "outcomes-quarantined", Shape::whole_event},
    Route{"outcomes-released", "outcomes-released", Shape::whole_event},
    Route{"outcomes-withheld", "outcomes-withheld", Shape::whole_event},
    Route{"failures-everywhere-began", "failures-everywhere-began", Shape::whole_event},
    Route{"failures-everywhere-ended", "failures-everywhere-ended", Shape::whole_event},
    Route{"relay-registration", "relay-registration", Shape::whole_event},
    Route{"plugin-activated", "plugin-activated", Shape::whole_event},
    Route{"plugin-refused", "plugin-refused", Shape::whole_event},
    Route{"plugin-stopped", "plugin-stopped", Shape::whole_event},
    Route{"configuration-accepted", "configuration-accepted", Shape::whole_event},
    Route{"configuration-refused", "configuration-refused", Shape::whole_event},
    Route{"configuration-emptied", "configuration-emptied", Shape::whole_event},
    Route{"store-repaired", "store-repaired", Shape::whole_event},
    Route{"store-incomplete", "store-incomplete", Shape::whole_event},
    Route{"client-created", "client-created", Shape::whole_event},
    Route{"client-changed", "client-changed", Shape::whole_event},
    Route{"client-removed", "client-removed", Shape::whole_event}};

// A payload under construction that knows whether something is missing.
class Payload {
 public:
  void must(const char* name, const std::string& text) {
    if (text.empty()) complete_ = false;
    document_[name] = text;
  }
  void must(const char* name, const json::object& details, const char* from) {
    const json::value* found = details.if_contains(from);
    if (!found || found->is_null() || (found->is_string() && found->get_string().empty()))
      complete_ = false;
    else
      document_[name] = *found;
  }
  void may(const char* name, const std::string& text) {
    if (!text.empty()) document_[name] = text;
  }
  void may(const char* name, const json::object& details) {
    if (const auto* found = details.if_contains(name); found && found->is_string())
      may(name, std::string(found->get_string()));
  }
  bool complete() const { return complete_; }
  json::object& document() { return document_; }

 private:
  json::object document_;
  bool complete_ = true;
};

// Never in the middle of a character.
std::string shortened(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return std::string(text.substr(0, bytes));
}

void fill_worker(Payload& payload, const Event& event) {
  payload.must("workerPoolId", event.worker_pool_id.str());
  payload.must("providerId", event.provider_id.str());
  payload.must("workerGroup", event.worker_group.str());
  payload.must("workerId", event.worker_id.str());
  payload.must("capacity", event.details, "capacity");
  payload.must("timestamp", format_time(event.at));
  payload.may("launchConfigId", event.launch_config_id.str());
}

void fill_error(Payload& payload, const Event& event) {
  payload.must("workerPoolId", event.worker_pool_id.str());
  payload.must("providerId", event.provider_id.str());
  payload.must("errorId", event.details, "errorId");
  payload.must("kind", event.details, "errorKind");
  payload.must("title", event.details, "title");
  payload.must("timestamp", format_time(event.at));
  payload.may("workerGroup", event.worker_group.str());
  payload.may("workerId", event.worker_id.str());
  payload.may("launchConfigId", event.launch_config_id.str());
  json::value* title = payload.document().if_contains("title");
  if (title && title->is_string()) *title = shortened(title->get_string(), longest_title);
}

void fill(Payload& payload, Shape shape, const Event& event) {
  switch (shape) {
    case Shape::pool:
      payload.must("workerPoolId", event.worker_pool_id.str());
      payload.must("providerId", event.provider_id.str());
      return payload.may("previousProviderId", event.details);
    case Shape::removed_worker:
      if (const auto* reason = event.details.if_contains("reason"); reason && reason->is_string())
        payload.must("reason", std::string(reason->get_string()));
      else
        payload.must("reason", event.text);
      [[fallthrough]];
    case Shape::worker:
      return fill_worker(payload, event);
    case Shape::error:
      return fill_error(payload, event);
    case Shape::launch_config:
      payload.must("launchConfigId", event.launch_config_id.str());
      payload.must("workerPoolId", event.worker_pool_id.str());
      return payload.must("providerId", event.provider_id.str());
    case Shape::whole_event:
      return;
  }
}

// A dot would begin a new word.
void add_word(std::string& key, std::string word) {
  if (word.empty()) word = "_";
  std::replace(word.begin(), word.end(), '.', '_');
  key += '.';
  key += word;
}

std::string routing_key(Shape shape, const Event& event) {
  // Taskcluster names nothing in the keys of pools.
  if (shape == Shape::pool) return "primary._._._._._._._";
  const std::string& pool = event.worker_pool_id.str();
  const auto slash = std::min(pool.find('/'), pool.size());
  std::string key = "primary";
  add_word(key, event.provider_id.str());
  add_word(key, pool.substr(0, slash));
  add_word(key, pool.substr(std::min(slash + 1, pool.size())));
  add_word(key, event.worker_group.str());
  add_word(key, event.worker_id.str());
  add_word(key, event.launch_config_id.str());
  return key + "._";
}

}  // namespace

std::vector<Message> taskcluster_messages(const Event& event) {
  std::vector<Message> messages;
  for (const Route& route : routes) {
    if (route.kind != event.kind) continue;
    Payload payload;
    fill(payload, route.shape, event);
    std::string key = routing_key(route.shape, event);
    if (!payload.complete() || key.size() > longest_routing_key) continue;
    messages.push_back({std::string(route.exchange), std::move(key),
                        route.shape == Shape::whole_event
                            ? to_json_line(event)
                            : json::write(json::value(std::move(payload.document())))});
  }
  return messages;
}

const std::vector<std::string>& exchanges() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names;
    for (const Route& route : routes) names.emplace_back(route.exchange);
    return names;
  }();
  return all;
}

}  // namespace muster::events
