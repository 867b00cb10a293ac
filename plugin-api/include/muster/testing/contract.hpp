// The contract of plugins as a program: every promise that the host relies on, tried out on any
// plugin through any channel. `muster plugin check` prints what it finds; an author's own tests
// call it through fake_host.hpp.
//
// It launches workers with the description's exampleConfig and exampleSection, which need no
// account, and terminates them. It uses the system's clock only to see that calls return.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <muster/abi.h>
#include <muster/channel.hpp>

namespace muster::testing {

enum class Outcome {
  kept,
  broken,
  unchecked,  // what it builds on is missing; `detail` says what
};

struct Check {
  std::string about;    // the method or the theme: "describe", "allocate", "requests"
  std::string promise;  // a sentence that is true of a good plugin
  Outcome outcome = Outcome::unchecked;
  std::string detail;  // unless kept: what was asked, what came back
};

// A plugin behind some transport. The functions are called from one thread.
struct ContractSubject {
  // The answer to "describe", which has no instance.
  std::function<Result<std::string>()> describe;
  // A fresh instance. `config` is what the plugin gets to see, and not always JSON.
  std::function<Result<std::unique_ptr<Channel>>(std::string_view config, const Context&)> create;
  // Where the transport can do it: describe in a place without I/O (describe_confined()).
  std::function<Result<std::string>()> describe_confined = {};
  std::chrono::milliseconds deadline = std::chrono::seconds(10);  // of each call
  std::chrono::milliseconds patience = std::chrono::seconds(2);   // with a cancelled call
};

// A plugin in this process, called in the caller's thread. `plugin` is borrowed.
ContractSubject direct_subject(const muster_plugin& plugin);

std::vector<Check> check_provider(const ContractSubject& subject);
std::vector<Check> check_strategy(const ContractSubject& subject);

// By the plugin's kind, "provider" or "strategy".
std::vector<Check> check_plugin(std::string_view kind, const ContractSubject& subject);

bool all_kept(const std::vector<Check>& checks);  // none broken

// For a terminal: a line for each promise, the details below what is not kept, a summary last.
std::string report(const std::vector<Check>& checks);

}  // namespace muster::testing
