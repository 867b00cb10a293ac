// A provider that keeps its machines in a map, remembers every call and fails on request.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/fleet/model/messages.hpp"

namespace muster::fleet {

class FakeCloud {
 public:
  explicit FakeCloud(ProviderId id) : id_(std::move(id)) {}

  // Set by tests.
  std::optional<Error> down = {};             // every call fails with it
  std::optional<Error> bids_fail = {};        // only bids do
  std::optional<Error> allocation_lost = {};  // it launches, and answers with this
  std::function<std::optional<Error>(const LaunchConfig&)> refuses = {};  // a launch
  std::function<void(Bids&)> spoil_bids = {};
  std::function<void(Listing&)> spoil_listing = {};
  std::map<std::string, Interruption> notices = {};   // by worker id
  std::map<std::string, Error> failed_launches = {};  // by key
  double price = 1;
  std::vector<AnnouncedMachine> announced = {};  // machines that nobody launches

  // To look at.
  std::map<std::string, Instance> instances = {};  // by worker id; those that are not gone
  std::vector<BidRequest> bid_requests = {};
  std::vector<AllocateRequest> allocate_requests = {};
  std::vector<TerminateRequest> terminate_requests = {};
  int listings = 0;
  std::map<std::string, int> launches_of_key = {};

  Result<Bids> bid(const BidRequest& request);
  Result<Allocation> allocate(const AllocateRequest& request, Time now);
  Result<Listing> list();
  Result<Termination> terminate(const TerminateRequest& request);
  Result<Notices> ask_notices();

  // A machine that nobody asked for.
  Instance& add(const std::string& worker_id, const std::string& pool,
                const std::string& launch_config, const std::string& key = "stranger");
  std::size_t launched() const { return launched_; }
  std::vector<std::string> ids() const;

 private:
  ProviderId id_;
  std::size_t launched_ = 0;
};

inline Result<Bids> FakeCloud::bid(const BidRequest& request) {
  bid_requests.push_back(request);
  if (down) return *down;
  if (bids_fail) return *bids_fail;
  Bids bids;
  for (const auto& candidate : request.candidates)
    bids.bids.push_back({.launch_config_id = candidate.launch_config.launch_config_id,
                         .capacity_per_instance = candidate.launch_config.capacity_per_instance,
                         .instances = candidate.max_instances.value_or(1000),
                         .price_per_capacity_hour = price,
                         .data = json::value("bid of " + id_.str())});
  if (spoil_bids) spoil_bids(bids);
  return bids;
}

inline Instance& FakeCloud::add(const std::string& worker_id, const std::string& pool,
                                const std::string& launch_config, const std::string& key) {
  Instance& instance = instances[worker_id];
  instance.worker_group = WorkerGroup("r");
  instance.worker_id = WorkerId(worker_id);
  instance.worker_pool_id = WorkerPoolId(pool);
  instance.launch_config_id = LaunchConfigId(launch_config);
  instance.idempotency_key = IdempotencyKey(key);
  instance.state = InstanceState::running;
  instance.provider_data = {{"v", 1}};
  return instance;
}

inline Result<Allocation> FakeCloud::allocate(const AllocateRequest& request, Time now) {
  allocate_requests.push_back(request);
  if (down) return *down;
  Allocation allocation;
  for (const IdempotencyKey& key : request.idempotency_keys) {
    Launch& launch = allocation.launches.emplace_back();
    launch.idempotency_key = key;
    const auto known = std::find_if(instances.begin(), instances.end(), [&](const auto& entry) {
      return entry.second.idempotency_key == key;
    });
    if (known != instances.end()) {
      launch.instance = known->second;
      continue;
    }
    if (refuses) launch.error = refuses(request.launch_config);
    if (launch.error) continue;
    ++launches_of_key[key.str()];
    Instance& instance = add(id_.str() + "-" + std::to_string(++launched_),
                             request.launch_config.worker_pool_id.str(),
                             request.launch_config.launch_config_id.str(), key.str());
    instance.capacity = request.launch_config.capacity_per_instance;
    instance.epoch = request.owner.epoch;
    instance.created = now;
    instance.tags = request.tags;
    launch.instance = instance;
  }
  if (allocation_lost) return *allocation_lost;
  return allocation;
}

inline Result<Listing> FakeCloud::list() {
  ++listings;
  if (down) return *down;
  Listing listing;
  for (const auto& [id, instance] : instances) listing.instances.push_back(instance);
  listing.announced = announced;
  if (spoil_listing) spoil_listing(listing);
  return listing;
}

inline Result<Termination> FakeCloud::terminate(const TerminateRequest& request) {
  terminate_requests.push_back(request);
  if (down) return *down;
  for (const WorkerRef& worker : request.workers) instances.erase(worker.worker_id.str());
  return Termination{};
}

inline Result<Notices> FakeCloud::ask_notices() {
  if (down) return *down;
  Notices answer;
  for (const auto& [id, interruption] : notices)
    answer.notices.push_back({WorkerGroup("r"), WorkerId(id), interruption});
  for (const auto& [key, error] : failed_launches)
    answer.failed_launches.push_back({IdempotencyKey(key), error});
  return answer;
}

inline std::vector<std::string> FakeCloud::ids() const {
  std::vector<std::string> names;
  for (const auto& [id, instance] : instances) names.push_back(id);
  return names;
}

}  // namespace muster::fleet
