// How requests reach a cloud: over connections that are kept, from any thread.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <muster/context.hpp>

#include "lib/http_client/client.hpp"

namespace muster::cloud {

// An interface, so that tests answer without a network.
//
// THREADS: any, in parallel. `context` ends the call: its deadline and its cancellation count.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual http_client::Answer send(http_client::Request request, const Context& context) = 0;
};

// One http_client::Client for each call under way; idle ones wait with their connections for the
// next. The constructor does no I/O.
class PooledTransport final : public Transport {
 public:
  explicit PooledTransport(http_client::Settings settings);
  ~PooledTransport() override;

  http_client::Answer send(http_client::Request request, const Context& context) override;

 private:
  std::unique_ptr<http_client::Client> take_client();
  void give_back(std::unique_ptr<http_client::Client> client);

  const http_client::Settings settings_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<http_client::Client>> idle_;
};

}  // namespace muster::cloud
