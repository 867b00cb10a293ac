// An EC2 in memory: small, but it keeps EC2's promises that the provider rests on (tokens, tags,
// filters, pages). For `example = true`, which needs no account, and for tests.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "plugins/provider/aws/api.hpp"

namespace muster::aws {

// THREADS: any, in parallel.
class ExampleApi final : public Api {
 public:
  explicit ExampleApi(std::vector<std::string> regions);

  Result<json::object> call(const Call& call, const Context& context) override;

  // For tests: asked before each call; an error is the answer. `lost`: the call has its effect, and
  // only the answer is lost.
  struct Fault {
    Error error;
    bool lost = false;
  };
  std::function<std::optional<Fault>(const Call&)> fault;

  std::vector<Call> calls() const;                        // all so far
  std::map<std::string, json::object> instances() const;  // by id, with Region and OwnerId
  void change(const std::string& id, const std::function<void(json::object&)>& edit);
  void set_hidden(bool hidden);  // lists lack machines that are launched from now on
  void set_room(std::int64_t machines) { room_ = machines; }  // so many may still be launched
  void set_page_size(std::size_t size) { page_size_ = size; }
  void push_message(const std::string& queue, std::string body);
  std::size_t messages(const std::string& queue) const;

 private:
  Result<json::object> answer(const Call& call, const Context& context);
  Result<json::object> run_instances(const Call& call, const Context& context);
  Result<json::object> describe_instances(const Call& call) const;
  Result<json::object> terminate_instances(const Call& call);
  json::object describe_zones(const std::string& region) const;
  json::object spot_prices(const Call& call, const Context& context) const;
  Result<json::object> receive_messages(const Call& call);

  const std::vector<std::string> regions_;
  mutable std::mutex mutex_;
  std::vector<Call> calls_;
  std::map<std::string, json::object> instances_;
  std::set<std::string> hidden_;
  std::map<std::string, std::pair<json::object, std::vector<std::string>>> tokens_;
  std::map<std::string, std::map<std::string, std::string>> queues_;  // handle → body
  bool hides_ = false;
  std::int64_t room_ = 1'000'000;
  std::size_t page_size_ = 1000;
  std::uint64_t next_ = 1;
};

std::unique_ptr<Api> example_api(std::vector<std::string> regions);

}  // namespace muster::aws
