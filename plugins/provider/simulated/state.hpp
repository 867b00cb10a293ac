// Everything about a simulated cloud that changes. A value: copied, compared as JSON, kept in a
// file.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <muster/launch_types.hpp>

namespace muster::simulated {

struct Machine {
  std::string host_id;
  ProviderId provider_id;
  std::string zone;
  std::string instance_type;
  Instance instance;               // as launched; its state is computed for the time of a call
  std::optional<Time> ready = {};  // absent: never boots
  std::optional<Interruption> interruption = {};
  std::optional<Time> terminated = {};

  static constexpr auto fields(auto visit) {
    return visit(required("hostId", &Machine::host_id),
                 required("providerId", &Machine::provider_id), required("zone", &Machine::zone),
                 required("instanceType", &Machine::instance_type),
                 required("instance", &Machine::instance), optional("ready", &Machine::ready),
                 optional("interruption", &Machine::interruption),
                 optional("terminated", &Machine::terminated));
  }
};

struct RuleCount {
  std::int64_t matched = 0;
  std::int64_t fired = 0;

  static constexpr auto fields(auto visit) {
    return visit(required("matched", &RuleCount::matched), required("fired", &RuleCount::fired));
  }
};

struct State {
  std::int64_t v = 1;
  std::optional<Time> started = {};  // the cloud's first call
  std::int64_t launches = 0;
  std::map<std::string, Machine> machines = {};         // by worker id
  std::map<std::string, RuleCount> failures = {};       // by the rule's index
  std::map<std::string, std::int64_t> slow_calls = {};  // likewise
  std::map<std::string, std::int64_t> epochs = {};      // by owner: the newest seen

  static constexpr auto fields(auto visit) {
    return visit(required("v", &State::v), optional("started", &State::started),
                 required("launches", &State::launches), required("machines", &State::machines),
                 optional("failures", &State::failures), optional("slowCalls", &State::slow_calls),
                 optional("epochs", &State::epochs));
  }
};

}  // namespace muster::simulated
