#include "host/fleet/state/outbox.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/model/sanitize.hpp"
#include "host/fleet/model/words.hpp"
#include "host/store/row.hpp"

namespace muster::fleet {
namespace {

constexpr std::int64_t numbers_reserved_at_once = 10'000;

}  // namespace

std::int64_t Outbox::next_number() {
  if (next_number_ >= reserved_) {
    reserved_ = next_number_ + numbers_reserved_at_once;
    change(store::put(HostRow{"nextNumber", std::to_string(reserved_)}));
  }
  return next_number_++;
}

void Outbox::record(events::Event event) {
  event.number = next_event_++;
  event.at = clock_.now();
  change(store::put(event));
  events_.push_back(std::move(event));
}

void Outbox::emit_event(const char* kind, const Worker& worker, std::string text,
                        json::object details) {
  events::Event event{.kind = kind, .text = std::move(text), .details = std::move(details)};
  event.worker_pool_id = registry_.pools()[worker.pool].id;
  event.launch_config_id =
      registry_.launch_configs()[worker.launch_config].spec->launch_config.launch_config_id;
  event.provider_id = registry_.providers()[worker.provider].id;
  if (has_instance(worker)) {
    event.worker_group = WorkerGroup(registry_.group_name(worker.group));
    event.worker_id = WorkerId(worker.worker_id);
  }
  event.details["worker"] = worker.number;
  event.details["capacity"] = worker.capacity;
  record(std::move(event));
}

void Outbox::emit_event(const char* kind, const LaunchConfigState& launch_config,
                        std::string text) {
  events::Event event{.kind = kind, .text = std::move(text)};
  event.worker_pool_id = registry_.pools()[launch_config.pool].id;
  event.launch_config_id = launch_config.spec->launch_config.launch_config_id;
  event.provider_id = launch_config.spec->provider_id;
  record(std::move(event));
}

void Outbox::emit_event(const char* kind, const Pool& pool, std::string text,
                        json::object details) {
  events::Event event{.kind = kind, .text = std::move(text), .details = std::move(details)};
  event.worker_pool_id = pool.id;
  // A pool that its owner gave to nobody has a provider all the same, for those who listen.
  if (pool.spec)
    event.provider_id =
        pool.spec->providers.empty() ? ProviderId("null-provider") : pool.spec->providers.front();
  record(std::move(event));
}

void Outbox::emit_event(const char* kind, const ProviderState& provider, std::string text,
                        json::object details) {
  events::Event event{.kind = kind, .text = std::move(text), .details = std::move(details)};
  event.provider_id = provider.id;
  record(std::move(event));
}

PoolErrorRow Outbox::pool_error(const Worker& worker, const char* kind, std::string title,
                                std::string description, json::object extra) {
  PoolErrorRow row{
      .worker_pool_id = registry_.pools()[worker.pool].id,
      .number = next_number(),
      .at = clock_.now(),
      .kind = kind,
      .title = shortened(std::move(title)),
      .description = std::move(description),
      .launch_config_id =
          registry_.launch_configs()[worker.launch_config].spec->launch_config.launch_config_id,
      .extra = std::move(extra)};
  change(store::put(row));
  keep(row);
  json::object details{{"errorId", error_id(identity_.host_id, row.number)},
                       {"errorKind", row.kind},
                       {"title", row.title}};
  if (const json::value* of_provider = row.extra.if_contains("class");
      of_provider && row.kind == "creation-error")
    details["class"] = *of_provider;
  emit_event("worker-error", worker, shortened(row.title + ": " + row.description),
             std::move(details));
  return row;
}

void Outbox::pool_error(const Pool& pool, const char* kind, std::string title,
                        std::string description, json::object extra) {
  const PoolErrorRow row{.worker_pool_id = pool.id,
                         .number = next_number(),
                         .at = clock_.now(),
                         .kind = kind,
                         .title = shortened(std::move(title)),
                         .description = std::move(description),
                         .launch_config_id = {},
                         .extra = std::move(extra)};
  change(store::put(row));
  keep(row);
}

void Outbox::keep(const PoolErrorRow& row) {
  for (const std::int64_t number : ledger_.add(row))
    change(store::Erase{&store::table_of<PoolErrorRow>, {row.worker_pool_id.str(), number}});
}

void Outbox::journal(const Pool& pool, const char* kind, std::string reason,
                     const json::object& inputs, const json::object& outputs) {
  journal_text(pool, kind, std::move(reason), json::write(inputs), json::write(outputs));
}

void Outbox::journal_text(const Pool& pool, const char* kind, std::string reason,
                          const std::string& inputs, const std::string& outputs) {
  store::Put row = store::put(DecisionRow{.worker_pool_id = pool.id,
                                          .number = next_number(),
                                          .at = clock_.now(),
                                          .kind = kind,
                                          .digest = short_digest(inputs),
                                          .reason = std::move(reason),
                                          .document = {}});
  // The document is the last column and already a text.
  row.row.back() = "{\"inputs\":" + inputs + ",\"outputs\":" + outputs + "}";
  change(std::move(row));
}

void Outbox::erase_before(Time journal, Time events) {
  const std::int64_t bound = journal.time_since_epoch().count();
  change(store::EraseBelow{&store::table_of<DecisionRow>, "at", bound});
  change(store::EraseBelow{&store::table_of<PoolErrorRow>, "at", bound});
  ledger_.forget_before(journal);
  change(
      store::EraseBelow{&store::table_of<events::Event>, "at", events.time_since_epoch().count()});
  change(store::put(HostRow{"nextEvent", std::to_string(next_event_)}));
}

void Outbox::write_numbers(store::Batch& out) const {
  out.emplace_back(store::put(HostRow{"nextNumber", std::to_string(reserved_)}));
  out.emplace_back(store::put(HostRow{"nextEvent", std::to_string(next_event_)}));
}

Result<void> Outbox::load(const store::Store& store, std::int64_t next_number,
                          std::int64_t next_event) {
  next_number_ = reserved_ = std::max<std::int64_t>(1, next_number);
  next_event_ = std::max<std::int64_t>(1, next_event);
  // A row that cannot be read is no reason not to start.
  const auto kept =
      store.scan({.table = &store::table_of<PoolErrorRow>}, [&](std::span<const store::Value> row) {
        if (const auto error = store::from_values<PoolErrorRow>(row)) keep(*error);
        return true;
      });
  if (!kept) return kept.error();
  return store::read_rows<events::Event>(
      store,
      [&](const events::Event& event) { next_event_ = std::max(next_event_, event.number + 1); },
      {.table = &store::table_of<events::Event>, .backwards = true, .limit = 1},
      [&](std::span<const store::Value> unread) {
        if (const auto* number = std::get_if<std::int64_t>(&unread.front()))
          next_event_ = std::max(next_event_, *number + 1);
      });
}

void Outbox::skip_numbers_below(std::int64_t number) {
  next_number_ = std::max(next_number_, number);
  reserved_ = std::max(reserved_, next_number_);
}

void Outbox::note_of_host(const char* name, std::string value) {
  change(store::put(HostRow{name, std::move(value)}));
}

}  // namespace muster::fleet
