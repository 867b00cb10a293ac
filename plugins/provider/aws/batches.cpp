#include "plugins/provider/aws/batches.hpp"

namespace muster::aws {

Batch& Batches::add(Batch batch) {
  Batch& added = batches_.emplace_back(std::move(batch));
  for (const IdempotencyKey& key : added.keys) by_key_[key] = &added;
  return added;
}

Batch* Batches::find(const IdempotencyKey& key) {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second;
}

void Batches::forget_older_than(Time time) {
  while (!batches_.empty() && batches_.front().made < time) {
    for (const IdempotencyKey& key : batches_.front().keys) by_key_.erase(key);
    batches_.pop_front();
  }
}

}  // namespace muster::aws
