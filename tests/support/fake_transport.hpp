// A transport that answers what a test says, and remembers what was sent.
#pragma once

#include <deque>
#include <functional>
#include <mutex>

#include "plugins/cloud/transport.hpp"

namespace muster::testing {

// Thread-safe. Answers come in their order; the last one stays.
class FakeTransport final : public cloud::Transport {
 public:
  http_client::Answer send(http_client::Request request, const Context&) override {
    const std::lock_guard lock(mutex_);
    sent.push_back(std::move(request));
    if (on_send) on_send(sent.back());
    http_client::Answer answer = answers.front();
    if (answers.size() > 1) answers.pop_front();
    return answer;
  }

  std::deque<http_client::Answer> answers = {http_client::Response{.status = 200}};
  std::vector<http_client::Request> sent;
  std::function<void(const http_client::Request&)> on_send;

 private:
  std::mutex mutex_;
};

}  // namespace muster::testing
