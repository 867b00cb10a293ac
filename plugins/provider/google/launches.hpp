// Launches that Google has taken: what became of them, asked for in few calls.
#pragma once

#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/provider_types.hpp>

#include "plugins/cloud/error_table.hpp"
#include "plugins/cloud/machines/launch_history.hpp"
#include "plugins/provider/google/api.hpp"

namespace muster::google {

// One key on its way to a machine.
struct KeyedLaunch {
  IdempotencyKey key;
  std::string name;
  std::optional<Instance> instance = {};
  std::optional<Error> error = {};  // final: there is no machine
  bool was_answered = false;        // the host was told of the instance, or that it is not clear
};

// One insert or bulkInsert.
struct LaunchCall {
  std::string zone;
  Owner owner;
  LaunchConfigId launch_config_id;
  Call call;  // repeated as it is until Google has taken it
  std::vector<KeyedLaunch> keys;
  bool is_bulk = false;
  std::string operation = {};  // its name; empty: Google has not (surely) taken it
  std::string group = {};      // of a bulkInsert: what its operations have in common
  bool done = false;           // the operation has ended, and all keys have their ends
  Time made{};
  std::string type_and_market = {};
};

// In memory only: names and requestIds are functions of the keys, so a new process repeats without
// harm. THREADS: one at a time. All references are borrowed.
class Launches {
 public:
  Launches(Api& api, std::string project) : api_(api), project_(std::move(project)) {}

  LaunchCall& add(LaunchCall call);
  // Nothing if the key is not remembered.
  LaunchCall* call_of(const IdempotencyKey& key);
  KeyedLaunch* find(const IdempotencyKey& key);
  void forget_older_than(Time time);

  // Asks for all operations that are under way, one call for each zone and fifty of them, and
  // settles what has ended. A zone that cannot be asked is asked again the next time.
  void refresh(const Context& context);
  // The same of one zone. An error of the call is logged and returned.
  Result<void> refresh_zone(const std::string& zone, const Context& context);
  // Asks for the machines of the call, all together; one call for each page.
  Result<void> find_machines(LaunchCall& call, const Context& context);

  // Machines that Google has promised and that a list may still lack. An operation of which nothing
  // is heard for a quarter of an hour promises nothing any more.
  std::vector<Instance> promised(const Owner& owner, Time now) const;
  bool is_promised(const WorkerId& id, Time now) const;
  // It was deleted: nothing is promised any more.
  void ended(const WorkerId& id);
  // Launches that failed after the host was told of them; for five minutes, each time it is asked.
  std::vector<Notices::FailedLaunch> failed_later(Time now);

 private:
  struct Failed {
    Notices::FailedLaunch launch;
    Time at{};
  };
  void settle(LaunchCall& call, const json::object& operation, const Context& context);
  void settle_bulk(LaunchCall& call, const json::object& operation, const Context& context);
  void fail(LaunchCall& call, KeyedLaunch& launch, Error error, const Context& context);
  Error error_of_ended(const LaunchCall& call, const std::string& what,
                       const cloud::CloudError& said) const;
  std::map<std::string, Error> errors_of_group(const LaunchCall& call, const Context& context);

  Api& api_;
  const std::string project_;
  const cloud::ErrorTable errors_ = error_table_of_google();
  static cloud::ErrorTable error_table_of_google();
  std::list<LaunchCall> calls_;  // by age
  std::map<IdempotencyKey, LaunchCall*> by_key_;
  std::vector<Failed> failed_;
};

// "insert" of a name that is there: an earlier process has launched it.
bool is_already_there(const Error& error);

}  // namespace muster::google
