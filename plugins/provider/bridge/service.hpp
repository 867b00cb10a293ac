// What is behind a bridge.
#pragma once

#include <memory>
#include <string>

#include <muster/context.hpp>
#include <muster/error.hpp>

#include "plugins/provider/bridge/settings.hpp"

namespace muster::bridge {

// Threads and deadline as Provider: one call at a time, soon back when the context is cancelled.
class Service {
 public:
  virtual ~Service() = default;

  // The document of a method's result, or the service's own typed error.
  virtual Result<std::string> call(const std::string& method, const std::string& document,
                                   const Context& context) = 0;
};

std::unique_ptr<Service> http_service_at(http_service::Endpoint endpoint);

// The simulated cloud: a bridge that can be tried and checked where there is no service.
std::unique_ptr<Service> example_service();

}  // namespace muster::bridge
