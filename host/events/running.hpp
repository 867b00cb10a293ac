// What sends events at the moment, with its thread.
#pragma once

#include "host/events/service.hpp"

namespace muster::events {

struct Service::RunningWebhook {
  config::WebhookSettings settings;
  std::atomic<bool> stop = false;
  std::unique_ptr<Webhook> webhook;
  std::unique_ptr<StepThread> thread;
};

struct Service::RunningAmqp {
  config::AmqpSettings settings;
  std::unique_ptr<AmqpPublisher> publisher;
  std::unique_ptr<StepThread> thread;
};

}  // namespace muster::events
