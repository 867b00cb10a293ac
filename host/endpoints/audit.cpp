#include "host/endpoints/audit.hpp"

#include "host/endpoints/call.hpp"
#include "lib/base/networks.hpp"

namespace muster::endpoints {
namespace {

constexpr std::size_t longest_shown = 4096;  // of one member of the body, as JSON

// A large value is replaced by its size: the event must stay small.
json::value shown_value(const json::value& value) {
  const std::size_t bytes = json::write(value).size();
  if (bytes <= longest_shown) return value;
  return json::value("(" + std::to_string(bytes) + " bytes)");
}

json::object shown_members(const Call& call) {
  json::object shown;
  const json::object* body = call.payload().if_object();
  if (!body) return shown;
  for (const std::string_view name : call.endpoint().audit.shown())
    if (const json::value* member = body->if_contains(name)) shown[name] = shown_value(*member);
  return shown;
}

std::string address_of(const Call& call) {
  const auto address = call.request().client_address();
  return address ? to_string(*address) : call.request().peer;
}

// Puts a parameter of the path where filters of events look for it.
void put_subject(events::Event& event, const std::string& name, const std::string& value) {
  if (name == "workerPoolId") event.worker_pool_id = WorkerPoolId(value);
  if (name == "launchConfigId") event.launch_config_id = LaunchConfigId(value);
  if (name == "providerId") event.provider_id = ProviderId(value);
  if (name == "workerGroup") event.worker_group = WorkerGroup(value);
  if (name == "workerId") event.worker_id = WorkerId(value);
}

}  // namespace

events::Event audit_event(const Call& call) {
  const Endpoint& row = call.endpoint();
  const std::string by = call.client_id().empty() ? "(no credentials)" : call.client_id();
  events::Event event;
  event.kind = events::audit_kind;
  event.text = by + ": " + std::string(row.name);
  json::object about;
  for (const auto& [name, value] : call.parameters()) {
    put_subject(event, name, value);
    about[name] = value;
    event.text += " " + name + "=" + value;
  }
  for (const auto& [name, value] : call.query().parameters()) about[name] = value;
  event.details = {{"action", row.name},
                   {"by", by},
                   {"address", address_of(call)},
                   {"request", call.request().id},
                   {"about", std::move(about)}};
  json::object shown = shown_members(call);
  if (const json::value* reason = shown.if_contains("reason"); reason && reason->is_string()) {
    event.details["reason"] = *reason;
    event.text += ": " + std::string(reason->get_string());
  }
  if (!shown.empty()) event.details["changed"] = std::move(shown);
  return event;
}

}  // namespace muster::endpoints
