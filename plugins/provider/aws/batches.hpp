// Launches that were sent, or are about to be: a key that comes again, alone or with others, is
// answered by the call that it was first sent with.
#pragma once

#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/provider_types.hpp>

#include "plugins/cloud/machines/ownership.hpp"
#include "plugins/provider/aws/api.hpp"

namespace muster::aws {

// One RunInstances call. AWS launches nothing a second time for the same ClientToken, and the
// machine with AmiLaunchIndex n has the key at n.
struct Batch {
  std::vector<IdempotencyKey> keys;
  Call call;
  Tags tags;
  std::optional<std::vector<Launch>> launches = {};  // once AWS has answered
  Time made{};
};

// In memory only: keys of an earlier process come with AllocateRequest::repeated_keys. THREADS: one
// at a time.
class Batches {
 public:
  Batch& add(Batch batch);
  // Nothing if it is not remembered.
  Batch* find(const IdempotencyKey& key);
  // AWS knows tokens for a day; the host gives keys up within minutes.
  void forget_older_than(Time time);

 private:
  std::list<Batch> batches_;  // by age
  std::map<IdempotencyKey, Batch*> by_key_;
};

}  // namespace muster::aws
