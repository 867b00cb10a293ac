// A Compute Engine in memory: small, but it keeps Google's promises that the provider rests on
// (names, requestIds, labels, operations, pages). For `example = true`, which needs no project, and
// for tests.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plugins/provider/google/api.hpp"

namespace muster::google {

// THREADS: any, in parallel.
class ExampleApi final : public Api {
 public:
  Result<json::object> call(const Call& call, const Context& context) override;
  // Ends the operations that are under way; nobody waits.
  bool pause(std::chrono::milliseconds time, const Context& context) override;

  // For tests: asked before each call; an error is the answer. `lost`: the call has its effect, and
  // only the answer is lost.
  struct Fault {
    Error error;
    bool lost = false;
  };
  std::function<std::optional<Fault>(const Call&)> fault;
  // How the operation of a machine of that name ends; nothing: well.
  std::function<std::optional<json::object>(const std::string& name)> operation_error;
  json::object certificates = {{"keys", json::array{}}};
  json::array skus = {};
  std::set<std::string> unreachable;     // zones that aggregated lists lack
  std::map<std::string, double> limits;  // of quotas, by metric
  std::set<std::string> refused_permissions;
  bool operations_end = true;  // false: they go on until end_operations()
  std::size_t page_size = 500;

  std::vector<Call> calls() const;                        // all so far
  std::map<std::string, json::object> instances() const;  // by name
  void change(const std::string& name, const std::function<void(json::object&)>& edit);
  void end_operations();
  void preempt(const std::string& name, const Context& context);

 private:
  using Answer = Result<json::object>;
  Answer answer(const Call& call, const Context& context);
  Answer insert(const Call& call, const Context& context);
  Answer bulk_insert(const Call& call, const Context& context);
  Answer remove(const Call& call, const Context& context);
  Answer list(const Call& call, const std::vector<json::object>& items) const;
  Answer aggregated(const Call& call, const std::vector<json::object>& items,
                    const char* member) const;
  Answer region(const std::string& name) const;
  void create(const json::object& body, const std::string& zone, const Context& context);
  json::object& add_operation(const std::string& type, const std::string& zone,
                              const std::string& target, const Context& context);
  void end_all();
  std::vector<json::object> all_instances() const;
  std::vector<json::object> all_operations() const;

  mutable std::mutex mutex_;
  std::vector<Call> calls_;
  std::map<std::string, json::object> instances_;   // by name
  std::map<std::string, json::object> operations_;  // by name
  std::map<std::string, std::string> by_request_;   // requestId → operation
  std::uint64_t next_ = 1;
};

}  // namespace muster::google
