// Why a worker gets no credentials.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <muster/error.hpp>

namespace muster::registration {

enum class RefusalReason {
  invalid,            // the claim or its proof is wrong
  not_found,          // there is no such worker, pool or provider
  conflict,           // another worker has that name
  gone,               // the worker is known, and no longer wanted
  too_many_failures,  // it has to wait
  provider_down,      // the plugin does not run
  read_only,          // the store fails
  unavailable,        // the host or the provider is in trouble
};

struct Refusal {
  RefusalReason reason = RefusalReason::unavailable;
  std::string message;  // one sentence for people
  std::optional<std::chrono::seconds> retry_after = {};

  static Refusal invalid(std::string message) {
    return {RefusalReason::invalid, std::move(message)};
  }
  static Refusal not_found(std::string message) {
    return {RefusalReason::not_found, std::move(message)};
  }
  static Refusal unavailable(std::string message) {
    return {RefusalReason::unavailable, std::move(message)};
  }
  // What the fleet says.
  static Refusal from(const Error& error);
};

// "InputError": the code in events and in the answers of both APIs.
std::string_view code_of(RefusalReason reason);

// Whether it counts as a failure of the worker, not as one of the host or the provider.
bool is_workers_fault(RefusalReason reason);

}  // namespace muster::registration
