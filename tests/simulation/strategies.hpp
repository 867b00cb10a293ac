// The shipped strategies as their plugins are, called directly.
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include <muster/channel.hpp>
#include <muster/testing/fake_host.hpp>

namespace muster::simulation {

class ShippedStrategies {
 public:
  ShippedStrategies() {
    for (const char* name : {"classic", "cheapest", "estimator"}) {
      const std::string file =
          std::string(MUSTER_PLUGINS) + "/strategy/" + name + "/" + name + ".so";
      const auto plugin = testing::open_plugin(file);
      if (!plugin) throw std::runtime_error(plugin.error().message);
      auto channel = testing::DirectChannel::create(**plugin, "{}", context_);
      if (!channel) throw std::runtime_error(channel.error().message);
      channels_.push_back(std::move(*channel));
      clients_.push_back(std::make_unique<StrategyClient>(*channels_.back()));
      by_name_.emplace(name, clients_.back().get());
    }
  }
  const std::map<std::string, BiddingStrategy*>& by_name() const { return by_name_; }

 private:
  testing::FakeContext context_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<std::unique_ptr<StrategyClient>> clients_;
  std::map<std::string, BiddingStrategy*> by_name_;
};

}  // namespace muster::simulation
