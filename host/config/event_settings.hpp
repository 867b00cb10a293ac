// What the configuration says about events: how long they are kept and who is sent them.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace muster::config {

struct EventSettings {
  std::chrono::milliseconds kept = std::chrono::hours(24 * 7);
  std::chrono::milliseconds dead_letters_kept = std::chrono::hours(24 * 30);
  std::uint32_t in_memory = 10'000;
  std::uint32_t most_streams_of_client = 2'000;
  friend bool operator==(const EventSettings&, const EventSettings&) = default;
};

// Secrets are in files and never here.
struct WebhookSettings {
  std::string name;
  std::string url;
  std::filesystem::path secret_file, ca_file;
  std::vector<std::string> kinds;  // "worker-running", "worker-*"; none: all
  std::string worker_pool_id, provider_id, launch_config_id;
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
  std::chrono::milliseconds give_up_after = std::chrono::hours(24);
  friend bool operator==(const WebhookSettings&, const WebhookSettings&) = default;
};

struct AmqpSettings {
  std::string url;  // "amqps://user@broker:5671/vhost"
  std::filesystem::path password_file = {}, ca_file = {};
  std::string exchange_prefix = "exchange/taskcluster-worker-manager/v1/";
  std::chrono::milliseconds heartbeat = std::chrono::seconds(20);
  std::uint32_t window = 512;  // events that may be under way at once
  friend bool operator==(const AmqpSettings&, const AmqpSettings&) = default;
};

}  // namespace muster::config
