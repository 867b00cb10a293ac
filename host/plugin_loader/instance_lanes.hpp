// A configured plugin instance with `concurrency = N` is N lanes: instances of the plugin with the
// same configuration, each of which serves one call at a time.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <muster/channel.hpp>

#include "host/plugin_loader/plugin_instance.hpp"
#include "host/plugin_loader/plugin_record.hpp"

namespace muster::plugin_loader {

// "ec2" with a concurrency of 3 becomes ec2, ec2#2 and ec2#3.
std::vector<InstanceSpec> lanes_of(std::vector<InstanceSpec> instances);
// "ec2" of "ec2#2".
std::string_view instance_of_lane(std::string_view lane_id);

// The channel to all lanes of one instance. A call goes to a lane that serves, and of those to the
// one with the fewest calls under way. THREADS: any.
class InstanceLanes final : public Channel {
 public:
  explicit InstanceLanes(std::string instance_id) : instance_id_(std::move(instance_id)) {}

  // From now on calls go to these; calls under way end where they are. Without lanes, every call
  // fails.
  void set(const std::vector<std::shared_ptr<PluginInstance>>& lanes);

  Result<std::string> call(std::string_view method, std::string_view request,
                           const Context& context) override;
  // Counted against the lane that served the calling thread's last call.
  void answer_was_wrong(std::string_view method, const std::string& why) noexcept override;

 private:
  struct Lane {
    std::shared_ptr<PluginInstance> instance;
    int calls_under_way = 0;
  };
  std::shared_ptr<Lane> choose();

  const std::string instance_id_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Lane>> lanes_;
  std::map<std::thread::id, std::weak_ptr<PluginInstance>> served_by_;
};

}  // namespace muster::plugin_loader
