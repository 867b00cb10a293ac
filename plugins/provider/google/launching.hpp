// Launches machines: nothing is lost, and nothing is launched twice.
#pragma once

#include <muster/provider_types.hpp>

#include "plugins/provider/google/launches.hpp"
#include "plugins/provider/google/quotas.hpp"
#include "plugins/provider/google/settings.hpp"

namespace muster::google {

// THREADS: one at a time. All references are borrowed.
class Launcher {
 public:
  Launcher(const Settings& settings, Api& api, cloud::LaunchHistory& history, Quotas& quotas,
           Launches& launches)
      : settings_(settings), api_(api), history_(history), quotas_(quotas), launches_(launches) {}

  // A machine's name is a function of its key, and Google has each name once: a key that comes
  // again, in this process or another, is the same machine. The answer waits for operations that
  // fail at once, and for the machines of a bulkInsert, for some seconds at most; what fails later
  // is in Launches::failed_later().
  Result<Allocation> allocate(const AllocateRequest& request, const Context& context);

 private:
  Result<void> add_calls(const AllocateRequest& request, const cloud::Machine& machine,
                         const Context& context);
  LaunchCall make_call(const AllocateRequest& request, const cloud::Machine& machine,
                       const std::vector<IdempotencyKey>& keys, const json::object& body,
                       bool is_bulk, const Context& context) const;
  void adopt(const AllocateRequest& request, const cloud::Machine& machine,
             const std::vector<IdempotencyKey>& keys, const Context& context);
  void send(const std::vector<LaunchCall*>& calls, const cloud::Machine& machine,
            const Context& context);
  void take_answer(LaunchCall& call, const Result<json::object>& answer, const Context& context);
  std::vector<LaunchCall*> split(LaunchCall& bulk, const cloud::Machine& machine,
                                 const Context& context);
  void follow(const std::vector<LaunchCall*>& calls, const std::string& zone,
              const Context& context);

  const Settings& settings_;
  Api& api_;
  cloud::LaunchHistory& history_;
  Quotas& quotas_;
  Launches& launches_;
  std::map<const LaunchCall*, Error> unsent_;  // of this call of allocate
};

}  // namespace muster::google
