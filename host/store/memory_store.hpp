// A store that forgets everything at the end: for simulation and tests. It promises what every
// store promises (tests/unit/host/store/conformance_test.cpp) but `backup`.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "host/store/store.hpp"

namespace muster::store {

class MemoryStore final : public Store {
 public:
  using Row = std::vector<Value>;
  // By table and key. Rows never change once they are in, so that a copy costs pointers only.
  using Contents =
      std::map<std::string, std::map<std::vector<Value>, std::shared_ptr<const Row>>, std::less<>>;

  MemoryStore() = default;
  explicit MemoryStore(Contents contents) : contents_(std::move(contents)) {}

  Result<void> commit(const Batch& batch) override;
  Result<void> scan(const Scan& scan, const RowSink& sink) const override;
  // Error::unsupported.
  Result<void> backup(const std::string& file) const override;

  // What a host that crashes now finds when it starts again: MemoryStore(store.contents()).
  Contents contents() const;

  // The same contents, the same digest: SHA-256 in hex.
  std::string digest() const;

 private:
  mutable std::mutex mutex_;
  Contents contents_;
};

}  // namespace muster::store
