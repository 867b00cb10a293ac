#include "plugins/cloud/transport.hpp"

namespace muster::cloud {
namespace {

constexpr std::size_t most_idle = 16;

}  // namespace

PooledTransport::PooledTransport(http_client::Settings settings) : settings_(std::move(settings)) {}
PooledTransport::~PooledTransport() = default;

std::unique_ptr<http_client::Client> PooledTransport::take_client() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::make_unique<http_client::Client>(settings_);
  auto client = std::move(idle_.back());
  idle_.pop_back();
  return client;
}

void PooledTransport::give_back(std::unique_ptr<http_client::Client> client) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < most_idle) idle_.push_back(std::move(client));
}

http_client::Answer PooledTransport::send(http_client::Request request, const Context& context) {
  auto client = take_client();
  http_client::Answer answer = client->send(std::move(request), context);
  give_back(std::move(client));
  return answer;
}

}  // namespace muster::cloud
