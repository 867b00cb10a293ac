// Ids are distinct types: a worker's id is never taken for a pool's.
#pragma once

#include <compare>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace muster {

template <class Tag>
class Id {
 public:
  Id() = default;
  explicit Id(std::string text) : text_(std::move(text)) {}

  const std::string& str() const { return text_; }
  bool empty() const { return text_.empty(); }

  friend auto operator<=>(const Id&, const Id&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Id& id) { return out << id.text_; }

 private:
  std::string text_;
};

using WorkerPoolId = Id<struct WorkerPoolTag>;      // "<provisionerId>/<workerType>"
using WorkerGroup = Id<struct WorkerGroupTag>;      // region or datacenter
using WorkerId = Id<struct WorkerTag>;              // the cloud's name of the instance
using ProviderId = Id<struct ProviderTag>;          // a configured provider, "ec2-us"
using LaunchConfigId = Id<struct LaunchConfigTag>;  // "lc-" and 20 hex digits
using BidId = Id<struct BidTag>;                    // unique in one round of bidding
using IdempotencyKey = Id<struct IdempotencyTag>;   // unique for each intent to launch one worker

}  // namespace muster

template <class Tag>
struct std::hash<muster::Id<Tag>> {
  std::size_t operator()(const muster::Id<Tag>& id) const noexcept {
    return std::hash<std::string>{}(id.str());
  }
};
