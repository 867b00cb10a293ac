#include "host/events/delivery_store.hpp"

#include "host/store/row.hpp"

namespace muster::events {

Result<std::map<std::string, std::int64_t>> DeliveryStore::positions() const {
  std::map<std::string, std::int64_t> all;
  const auto read = store::read_rows<DeliveryRow>(
      store_, [&](const DeliveryRow& row) { all[row.consumer] = row.delivered; });
  if (!read) return read.error();
  return all;
}

Result<std::vector<DeadLetterRow>> DeliveryStore::dead_letters(const std::string& consumer,
                                                               std::int64_t after,
                                                               std::size_t limit) const {
  std::vector<DeadLetterRow> all;
  const auto read = store::read_rows<DeadLetterRow>(
      store_, [&](DeadLetterRow row) { all.push_back(std::move(row)); },
      {.table = &store::table_of<DeadLetterRow>,
       .prefix = {consumer},
       .beyond = after,
       .limit = limit});
  if (!read) return read.error();
  return all;
}

Result<std::optional<DeadLetterRow>> DeliveryStore::dead_letter(const std::string& consumer,
                                                                std::int64_t number) const {
  auto found = dead_letters(consumer, number - 1, 1);
  if (!found) return found.error();
  if (found->empty() || found->front().number != number) return std::optional<DeadLetterRow>();
  return std::optional(std::move(found->front()));
}

void DeliveryStore::save(const std::string& consumer, std::int64_t delivered, store::Batch more,
                         std::function<void()> durable) {
  more.emplace_back(store::put(DeliveryRow{consumer, delivered, clock_.now()}));
  submit_(std::move(more), std::move(durable));
}

void DeliveryStore::put(const DeadLetterRow& letter, std::function<void()> durable) {
  submit_({store::put(letter)}, std::move(durable));
}

bool DeliveryStore::erase(const std::string& consumer, std::int64_t number,
                          std::function<void()> durable) {
  return submit_({store::erase<DeadLetterRow>({consumer, number})}, std::move(durable));
}

void DeliveryStore::forget(const std::string& consumer) {
  submit_({store::erase<DeliveryRow>({consumer})}, {});
}

void DeliveryStore::forget_dead_letters_before(Time time) {
  submit_(
      {store::EraseBelow{&store::table_of<DeadLetterRow>, "at", time.time_since_epoch().count()}},
      {});
}

}  // namespace muster::events
