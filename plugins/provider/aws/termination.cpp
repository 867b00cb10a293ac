#include "plugins/provider/aws/termination.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/machines/ownership.hpp"

namespace muster::aws {
namespace {

constexpr std::size_t most_ids_of_call = 500;

bool is_instance_id(std::string_view id) {
  return id.size() >= 10 && id.size() <= 30 && id.starts_with("i-") &&
         std::ranges::all_of(id.substr(2), [](char letter) {
           return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
         });
}

bool may_be_region(std::string_view group) {
  return !group.empty() && group.back() >= '0' && group.back() <= '9';
}

class Terminator {
 public:
  Terminator(Api& api, RecentInstances& recent, const Context& context)
      : api_(api), recent_(recent), context_(context) {}

  void end(const std::string& region, std::vector<const WorkerRef*> workers) {
    for (std::size_t from = 0; from < workers.size(); from += most_ids_of_call)
      end_batch(region, {workers.begin() + static_cast<std::ptrdiff_t>(from),
                         workers.begin() + static_cast<std::ptrdiff_t>(
                                               std::min(workers.size(), from + most_ids_of_call))});
  }

  Termination take() { return std::move(termination_); }

  void fail(const WorkerRef& worker, Error error) {
    termination_.failures.push_back({worker.worker_group, worker.worker_id, std::move(error)});
  }

 private:
  // EC2 ends all of them or, for one that is wrong, none: then the others are tried without it.
  void end_batch(const std::string& region, const std::vector<const WorkerRef*>& workers) {
    if (workers.empty()) return;
    json::array ids;
    for (const WorkerRef* worker : workers) ids.emplace_back(worker->worker_id.str());
    const auto answer = api_.call({.service = "ec2",
                                   .region = region,
                                   .action = "TerminateInstances",
                                   .parameters = {{"InstanceIds", std::move(ids)}}},
                                  context_);
    if (answer) {
      for (const WorkerRef* worker : workers) recent_.terminated(worker->worker_id, context_.now());
      return;
    }
    const Error& error = answer.error();
    const bool is_unknown = error.code == "InvalidInstanceID.NotFound";
    if (!is_unknown && (error.code != "OperationNotPermitted" || workers.size() == 1)) {
      for (const WorkerRef* worker : workers) fail(*worker, error);
      return;
    }
    if (workers.size() == 1) return gone(*workers.front());
    std::vector<const WorkerRef*> unknown, others;
    for (const WorkerRef* worker : workers)
      (is_unknown && error.message.find(worker->worker_id.str()) != std::string::npos ? unknown
                                                                                      : others)
          .push_back(worker);
    if (unknown.empty()) return halve(region, workers);
    for (const WorkerRef* worker : unknown) gone(*worker);
    end_batch(region, others);
  }

  void halve(const std::string& region, const std::vector<const WorkerRef*>& workers) {
    const auto middle = workers.begin() + static_cast<std::ptrdiff_t>(workers.size() / 2);
    end_batch(region, {workers.begin(), middle});
    end_batch(region, {middle, workers.end()});
  }

  void gone(const WorkerRef& worker) {
    const auto launched = parse_time(text_of(worker.provider_data, "launched"));
    const bool is_new = recent_.was_just_launched(worker.worker_id, context_.now()) ||
                        (launched && context_.now() < *launched + longest_delay_of_lists);
    if (is_new && !recent_.was_terminated(worker.worker_id))
      fail(worker, Error::transient("EC2 does not know " + worker.worker_id.str() +
                                    " yet, which was just launched: it is terminated later")
                       .in_region(worker.worker_group.str()));
  }

  Api& api_;
  RecentInstances& recent_;
  const Context& context_;
  Termination termination_;
};

}  // namespace

Termination terminate_instances(const TerminateRequest& request, Api& api, RecentInstances& recent,
                                const Context& context) {
  Terminator terminator(api, recent, context);
  std::map<std::string, std::vector<const WorkerRef*>> by_region;
  for (const WorkerRef& worker : request.workers) {
    if (!belongs_to(worker.provider_data, request.owner))
      terminator.fail(worker, not_yours(worker, request.owner));
    else if (is_instance_id(worker.worker_id.str()) && may_be_region(worker.worker_group.str()))
      by_region[worker.worker_group.str()].push_back(&worker);
  }
  for (auto& [region, workers] : by_region) terminator.end(region, std::move(workers));
  return terminator.take();
}

}  // namespace muster::aws
