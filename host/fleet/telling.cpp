// What others hear of: events, and the errors that a pool's owner is shown.
#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/changing.hpp"
#include "host/store/row.hpp"

namespace muster::fleet {

std::string error_id(const std::string& host_id, std::int64_t number) {
  Sha256 bytes = sha256(host_id + " error " + std::to_string(number));
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  unsigned bits = 0;
  int held = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    bits = bits << 8 | bytes[i];
    for (held += 8; held >= 6; held -= 6) text += letters[bits >> (held - 6) & 63];
  }
  return text += letters[bits << (6 - held) & 63];
}

void Fleet::tell(events::Event event, Now now) {
  begin(now);
  record(std::move(event));
}

void Fleet::record(events::Event event) {
  event.number = next_event_++;
  event.at = now_.wall;
  outcome_.changes.emplace_back(store::put(event));
  outcome_.events.push_back(std::move(event));
}

void Fleet::emit_event(const char* kind, const Worker& worker, std::string text,
                       json::object details) {
  events::Event event{.kind = kind, .text = std::move(text), .details = std::move(details)};
  event.worker_pool_id = pools_[worker.pool].id;
  event.launch_config_id =
      launch_configs_[worker.launch_config].spec->launch_config.launch_config_id;
  event.provider_id = providers_[worker.provider].id;
  if (has_instance(worker)) {
    event.worker_group = WorkerGroup(groups_[worker.group]);
    event.worker_id = WorkerId(worker.worker_id);
  }
  event.details["worker"] = worker.number;
  event.details["capacity"] = worker.capacity;
  record(std::move(event));
}

void Fleet::emit_event(const char* kind, const LaunchConfigState& launch_config, std::string text) {
  events::Event event{.kind = kind, .text = std::move(text)};
  event.worker_pool_id = pools_[launch_config.pool].id;
  event.launch_config_id = launch_config.spec->launch_config.launch_config_id;
  event.provider_id = launch_config.spec->provider_id;
  record(std::move(event));
}

void Fleet::emit_event(const char* kind, const Pool& pool, std::string text, json::object details) {
  events::Event event{.kind = kind, .text = std::move(text), .details = std::move(details)};
  event.worker_pool_id = pool.id;
  // A pool that its owner gave to nobody has a provider all the same, for those who listen.
  if (pool.spec)
    event.provider_id =
        pool.spec->providers.empty() ? ProviderId("null-provider") : pool.spec->providers.front();
  record(std::move(event));
}

void Fleet::emit_event(const char* kind, const ProviderState& provider, std::string text,
                       json::object details) {
  events::Event event{.kind = kind, .text = std::move(text), .details = std::move(details)};
  event.provider_id = provider.id;
  record(std::move(event));
}

PoolErrorRow Fleet::pool_error(const Worker& worker, const char* kind, std::string title,
                               std::string description, json::object extra) {
  PoolErrorRow row{.worker_pool_id = pools_[worker.pool].id,
                   .number = next_number(),
                   .at = now_.wall,
                   .kind = kind,
                   .title = std::move(title),
                   .description = std::move(description),
                   .launch_config_id =
                       launch_configs_[worker.launch_config].spec->launch_config.launch_config_id,
                   .extra = std::move(extra)};
  outcome_.changes.emplace_back(store::put(row));
  emit_event(
      "worker-error", worker, row.title + ": " + row.description,
      {{"errorId", error_id(host_id_, row.number)}, {"errorKind", row.kind}, {"title", row.title}});
  return row;
}

// Numbers go on behind the newest event, also if all were erased since.
Result<void> Fleet::load_events(const store::Store& store) {
  return store::read_rows<events::Event>(
      store,
      [&](const events::Event& event) { next_event_ = std::max(next_event_, event.number + 1); },
      {.table = &store::table_of<events::Event>, .backwards = true, .limit = 1});
}

std::string short_digest(const std::string& bytes) {
  return to_hex(sha256(bytes)).substr(0, 16);
}

void Fleet::journal(const Pool& pool, const char* kind, std::string reason, json::object inputs,
                    json::object outputs) {
  const std::string digest = short_digest(json::canonical(inputs));
  outcome_.changes.emplace_back(store::put(
      DecisionRow{.worker_pool_id = pool.id,
                  .number = next_number(),
                  .at = now_.wall,
                  .kind = kind,
                  .digest = digest,
                  .reason = std::move(reason),
                  .document = {{"inputs", std::move(inputs)}, {"outputs", std::move(outputs)}}}));
}

}  // namespace muster::fleet
