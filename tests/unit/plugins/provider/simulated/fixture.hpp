// A small simulated cloud and the calls that every test makes.
#pragma once

#include <gtest/gtest.h>

#include <muster/codec.hpp>
#include <muster/testing/fake_host.hpp>

#include "plugins/provider/simulated/cloud.hpp"

namespace muster::simulated {

inline json::object config_with(const json::object& changes) {
  json::object config = example_config();
  for (const auto& [key, value] : changes) config[key] = value;
  return config;
}

inline Settings settings_with(const json::object& changes) {
  auto settings = read_settings(config_with(changes));
  if (!settings) throw std::runtime_error(settings.error().message);
  return *settings;
}

inline Owner owner(std::int64_t epoch = 1, const std::string& host = "host") {
  return {host, ProviderId("sim"), epoch};
}

inline LaunchConfig launch_config(const std::string& zone = "eu-1a",
                                  const std::string& type = "small") {
  return {LaunchConfigId("lc-" + zone + type),
          WorkerPoolId("worker-manager/build"),
          {{{"region", zone.substr(0, 4)}, {"availabilityZone", zone}}},
          {{"simulated", {{"instanceType", type}}}},
          type == "large" ? 4 : 1,
          type};
}

inline AllocateRequest allocate_request(const LaunchConfig& config, int first, int count) {
  AllocateRequest request{owner(), config, {}, {}, {{"team", "build"}}, {}};
  for (int i = first; i < first + count; ++i)
    request.idempotency_keys.emplace_back("key-" + std::to_string(i));
  return request;
}

// Launches one machine and expects it to succeed.
inline Instance launch_one(Provider& cloud, const Context& context, int number = 1) {
  const auto allocation = cloud.allocate(allocate_request(launch_config(), number, 1), context);
  if (!allocation || !allocation->launches.at(0).instance)
    throw std::runtime_error("the machine was not launched");
  return *allocation->launches[0].instance;
}

}  // namespace muster::simulated
