// An Azure in memory: small, but it keeps Azure's promises that the provider rests on (names, tags,
// pages, what ends with a machine). For `example = true`, which needs no subscription, and for
// tests.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "plugins/provider/azure/api.hpp"

namespace muster::azure {

// THREADS: any, in parallel.
class ExampleApi final : public Api {
 public:
  Result<Answer> call(const Call& call, const Context& context) override;
  Result<std::string> fetch(const std::string& url, const Context& context) override;

  // For tests: asked before each call; an error is the answer. `lost`: the call has its effect, and
  // only the answer is lost.
  struct Fault {
    Error error;
    bool lost = false;
  };
  std::function<std::optional<Fault>(const Call&)> fault;

  std::vector<Call> calls(const std::string& method, const std::string& part_of_target) const;
  std::size_t call_count() const;
  // Names of the resources of a type: "virtualMachines", "networkInterfaces", "disks", ...
  std::vector<std::string> names(const std::string& type) const;
  void change(const std::string& type, const std::string& name,
              const std::function<void(json::object&)>& edit);
  void add(const std::string& group, const std::string& type, const json::object& document);
  // Machines that are launched from now on fail later with this code; "": they do not.
  void fail_later(std::string code) { later_ = std::move(code); }
  void set_quota(const std::string& name, std::int64_t used, std::int64_t limit);
  void set_page_size(std::size_t size) { page_size_ = size; }
  std::map<std::string, std::string> certificates;  // by URL, for fetch()

 private:
  struct Path;
  Result<Answer> answer(const Call& call, const Context& context);
  Result<Answer> put_machine(const Path& path, const Call& call, const Context& context);
  Result<Answer> put_deployment(const Path& path, const Call& call, const Context& context);
  Result<Answer> remove(const Path& path);
  Result<Answer> list(const Path& path, const Call& call) const;
  Result<Answer> skus() const;
  Result<Answer> usages() const;
  Result<Answer> prices(const Call& call) const;
  json::object& place(const std::string& group, const std::string& type, const std::string& name);

  mutable std::mutex mutex_;
  std::vector<Call> calls_;
  std::map<std::string, json::object> resources_;  // by "group/type/name"
  std::map<std::string, json::object> operations_;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> quotas_;
  std::string later_;
  std::size_t page_size_ = 1000;
  std::uint64_t next_ = 1;
};

}  // namespace muster::azure
