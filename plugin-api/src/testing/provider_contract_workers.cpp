// While a worker lives: allocate, list, identify, terminate.
#include <algorithm>
#include <set>

#include <muster/enum_name.hpp>

#include "provider_contract.hpp"

namespace muster::testing {
namespace {

const std::map<std::string, std::string> tags{{"muster-contract", "a tag"}, {"owner", "x@y.z"}};

WorkerRef ref_to(const Instance& instance) {
  return {instance.worker_group, instance.worker_id, instance.provider_data};
}

}  // namespace

std::vector<IdempotencyKey> ProviderContract::keys(std::int64_t count) const {
  std::vector<IdempotencyKey> made;
  for (std::int64_t i = 1; i <= count; ++i)
    made.emplace_back("contract-" + run_ + "-" + std::to_string(i));
  return made;
}

AllocateRequest ProviderContract::allocate_request(std::vector<IdempotencyKey> wanted) const {
  return {
      owner_,
      *launch_config_,
      bid_data_,
      std::move(wanted),
      tags,
      {{"rootUrl", "http://127.0.0.1:1"}, {"workerPoolId", launch_config_->worker_pool_id.str()}}};
}

void ProviderContract::check_allocate() {
  findings_.promise("allocate", "answers each key, in order, with an instance or an error",
                    [&] { return answers_each_key(); });
  findings_.promise("allocate", "the same key twice launches once and answers alike",
                    [&] { return launches_once_for_a_key(); });
  findings_.promise("allocate", "of no keys launches nothing", [&]() -> Finding {
    if (!launch_config_) return unchecked("nothing was expanded");
    const auto answer = provider_.allocate(allocate_request({}), context_);
    if (!answer) return broken(failure_of("allocate", answer));
    if (!answer->launches.empty()) return broken("it launched " + encode(answer->launches[0]));
    return kept();
  });
}

Finding ProviderContract::answers_each_key() {
  if (!launch_config_) return unchecked("nothing was expanded");
  if (room_ == 0) return unchecked("the provider bids no instances for its example section");
  const auto wanted = keys(room_ > 1 ? 2 : 1);
  const auto answer = provider_.allocate(allocate_request(wanted), context_);
  if (!answer) return broken(failure_of("allocate", answer));
  if (answer->launches.size() != wanted.size())
    return broken(std::to_string(wanted.size()) + " keys, " +
                  std::to_string(answer->launches.size()) + " launches");
  std::set<WorkerId> ids;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Launch& launch = answer->launches[i];
    if (launch.idempotency_key != wanted[i])
      return broken("the launch at " + std::to_string(i) + " has the key " +
                    launch.idempotency_key.str() + ", expected " + wanted[i].str());
    if (launch.instance.has_value() == launch.error.has_value())
      return broken(
          wanted[i].str() + " has " +
          (launch.error ? "both an instance and an error" : "neither instance nor error"));
    if (launch.error)
      return broken("the provider offered room, but " + wanted[i].str() + " failed as " +
                    words(*launch.error));
    launched_.push_back(*launch.instance);
    if (launch.instance->worker_id.empty() || launch.instance->worker_group.empty())
      return broken("no workerId or workerGroup: " + encode(*launch.instance));
    if (!ids.insert(launch.instance->worker_id).second)
      return broken("two keys got the same worker " + launch.instance->worker_id.str());
    if (launch.instance->state == InstanceState::stopped)
      return broken("launched as stopped: " + encode(*launch.instance));
  }
  return kept();
}

Finding ProviderContract::launches_once_for_a_key() {
  if (launched_.empty()) return unchecked("nothing was launched");
  const auto before = provider_.list({owner_}, context_);
  if (!before) return broken(failure_of("list", before));
  const auto answer =
      provider_.allocate(allocate_request({launched_[0].idempotency_key}), context_);
  if (!answer) return broken(failure_of("allocate", answer));
  if (answer->launches.size() != 1 || !answer->launches[0].instance)
    return broken("it answered " + encode(*answer));
  if (answer->launches[0].instance->worker_id != launched_[0].worker_id)
    return broken("first " + launched_[0].worker_id.str() + ", then " +
                  answer->launches[0].instance->worker_id.str());
  const auto after = provider_.list({owner_}, context_);
  if (!after) return broken(failure_of("list", after));
  if (after->instances.size() != before->instances.size())
    return broken("list showed " + std::to_string(before->instances.size()) +
                  " instances before and " + std::to_string(after->instances.size()) + " after");
  return kept();
}

std::optional<Instance> ProviderContract::listed(const WorkerId& id, std::string& trouble) {
  const auto listing = provider_.list({owner_}, context_);
  if (!listing) {
    trouble = failure_of("list", listing);
    return std::nullopt;
  }
  const auto found =
      std::find_if(listing->instances.begin(), listing->instances.end(),
                   [&](const Instance& instance) { return instance.worker_id == id; });
  if (found == listing->instances.end()) return std::nullopt;
  return *found;
}

void ProviderContract::check_list() {
  findings_.promise("list", "shows what was allocated, with all that the host gave it",
                    [&] { return lists_what_was_allocated(); });
  findings_.promise("list", "shows nothing of another host or provider",
                    [&] { return lists_for_its_owner_only(); });
  findings_.promise("list", "shows what an earlier start of the host launched", [&]() -> Finding {
    if (launched_.empty()) return unchecked("nothing was launched");
    Owner later = owner_;
    ++later.epoch;
    const auto listing = provider_.list({later}, context_);
    if (!listing) return broken(failure_of("list", listing));
    if (listing->instances.size() < launched_.size())
      return broken("epoch " + std::to_string(later.epoch) + " sees " +
                    std::to_string(listing->instances.size()) + " of " +
                    std::to_string(launched_.size()) + " instances of epoch " +
                    std::to_string(owner_.epoch));
    return kept();
  });
}

Finding ProviderContract::lists_what_was_allocated() {
  if (launched_.empty()) return unchecked("nothing was launched");
  for (const Instance& instance : launched_) {
    std::string trouble = "it is not there";
    const auto seen = listed(instance.worker_id, trouble);
    if (!seen) return broken(instance.worker_id.str() + ": " + trouble);
    const auto differs = [&](const std::string& what, const std::string& got,
                             const std::string& expected) {
      return broken(instance.worker_id.str() + ": its " + what + " is \"" + got +
                    "\", expected \"" + expected + "\"");
    };
    if (seen->worker_group != instance.worker_group)
      return differs("worker group", seen->worker_group.str(), instance.worker_group.str());
    if (seen->worker_pool_id != launch_config_->worker_pool_id)
      return differs("pool", seen->worker_pool_id.str(), launch_config_->worker_pool_id.str());
    if (seen->launch_config_id != launch_config_->launch_config_id)
      return differs("launch configuration", seen->launch_config_id.str(),
                     launch_config_->launch_config_id.str());
    if (seen->idempotency_key != instance.idempotency_key)
      return differs("key", seen->idempotency_key.str(), instance.idempotency_key.str());
    if (seen->epoch != owner_.epoch)
      return differs("epoch", std::to_string(seen->epoch), std::to_string(owner_.epoch));
    for (const auto& [name, value] : tags)
      if (const auto tag = seen->tags.find(name); tag == seen->tags.end() || tag->second != value)
        return differs("tag " + name, tag == seen->tags.end() ? "" : tag->second, value);
  }
  return kept();
}

Finding ProviderContract::lists_for_its_owner_only() {
  if (launched_.empty()) return unchecked("nothing was launched");
  Owner other_host = owner_;
  other_host.host_id = "contract-other-host";
  Owner other_provider = owner_;
  other_provider.provider_id = ProviderId("contract-other-provider");
  for (const Owner& other : {other_host, other_provider}) {
    const auto listing = provider_.list({other}, context_);
    if (!listing) return broken(failure_of("list", listing));
    for (const Instance& instance : listing->instances)
      if (instance.worker_id == launched_[0].worker_id)
        return broken(encode(other) + " sees a worker of " + encode(owner_));
  }
  return kept();
}

bool ProviderContract::launches() const {
  return room_ > 0 || !offers(capability::announced_workers);
}

void ProviderContract::check_launches_nothing() {
  findings_.promise("allocate", "launches nothing where workers are announced, and says so",
                    [&]() -> Finding {
                      if (!launch_config_) return unchecked("nothing was expanded");
                      const auto answer = provider_.allocate(allocate_request(keys(1)), context_);
                      if (!answer) return kept();
                      for (const Launch& launch : answer->launches)
                        if (launch.instance)
                          return broken("it launched " + encode(*launch.instance));
                      return kept();
                    });
  findings_.promise("list", "shows nothing, for nothing was launched", [&]() -> Finding {
    const auto listing = provider_.list({owner_}, context_);
    if (!listing) return broken(failure_of("list", listing));
    if (!listing->instances.empty()) return broken(encode(listing->instances.front()));
    return kept();
  });
}

void ProviderContract::check_announced() {
  findings_.promise("list", "announces machines only as its capabilities say, each once and whole",
                    [&] { return announces_sensibly(); });
}

Finding ProviderContract::announces_sensibly() {
  const auto listing = provider_.list({owner_}, context_);
  const auto again = provider_.list({owner_}, context_);
  if (!listing || !again) return broken(failure_of("list", listing ? again : listing));
  if (!listing->announced.empty() && !offers(capability::announced_workers))
    return broken("it announces " + encode(listing->announced.front()) + ", but not \"" +
                  capability::announced_workers + "\"");
  std::set<std::pair<WorkerGroup, WorkerId>> seen;
  for (const Instance& instance : listing->instances)
    seen.emplace(instance.worker_group, instance.worker_id);
  for (const AnnouncedMachine& machine : listing->announced) {
    if (machine.worker_pool_id.empty() || machine.worker_group.empty() ||
        machine.worker_id.empty() || machine.capacity < 1)
      return broken("no pool, group, id or capacity: " + encode(machine));
    if (!seen.emplace(machine.worker_group, machine.worker_id).second)
      return broken(encode(machine) + " is listed twice, or was launched");
  }
  if (codec::to_value(listing->announced) != codec::to_value(again->announced))
    return broken("first " + excerpt(json::write(codec::to_value(listing->announced))) +
                  ", right after it " + excerpt(json::write(codec::to_value(again->announced))));
  return kept();
}

void ProviderContract::check_identify() {
  findings_.promise("identify", "refuses proofs that prove nothing, and says why",
                    [&] { return refuses_wrong_proofs(); });
  findings_.promise("identify", "admits no worker without a proof, known to the host or not",
                    [&] { return refuses_strangers(); });
}

// With all that a machine could show which nobody has ever heard of, and for those that are known.
Finding ProviderContract::refuses_strangers() {
  const auto listing = provider_.list({owner_}, context_);
  if (!listing) return broken(failure_of("list", listing));
  std::vector<IdentifyRequest> requests(2,
                                        {.worker_pool_id = WorkerPoolId("worker-manager/contract"),
                                         .worker_group = WorkerGroup("contract-nowhere"),
                                         .worker_id = WorkerId("contract-nobody"),
                                         .proof = {}});
  requests[1].voucher = Voucher{"contract-relay", "contract-nobody.example.invalid", "192.0.2.1"};
  for (const AnnouncedMachine& machine : listing->announced)
    requests.push_back({.worker_pool_id = machine.worker_pool_id,
                        .worker_group = machine.worker_group,
                        .worker_id = machine.worker_id,
                        .proof = {},
                        .provider_data = machine.provider_data});
  const std::string secret(44, 's'), signature(88, 'A');
  for (IdentifyRequest& request : requests)
    for (const json::object& proof :
         {json::object{}, json::object{{"staticSecret", secret}},
          json::object{{"localSecret", secret}},
          json::object{{"poolKey", json::object{{"challenge", ""}, {"signature", signature}}}},
          json::object{{"state", json::object{{"os", "14.5"}}}}}) {
      request.proof = proof;
      const auto answer = provider_.identify(request, context_);
      if (answer)
        return broken("it took " + request.worker_id.str() + " for known by " +
                      excerpt(json::write(proof)) + (answer->admission ? ", and admits it" : ""));
      if (answer.error().message.empty()) return broken("it does not say why");
    }
  return kept();
}

Finding ProviderContract::refuses_wrong_proofs() {
  const WorkerPoolId pool("worker-manager/contract");
  const WorkerId worker = launched_.empty() ? WorkerId("nobody") : launched_[0].worker_id;
  const WorkerGroup group = launched_.empty() ? WorkerGroup("nowhere") : launched_[0].worker_group;
  const std::string large(100'000, 'x');
  for (const json::object& proof :
       {json::object{}, json::object{{"token", ""}}, json::object{{"token", "wrong"}},
        json::object{{"token", 7}, {"document", json::array{}}, {"signature", nullptr}},
        json::object{{"token", large}, {"signature", large}}}) {
    const auto answer = provider_.identify({pool, group, worker, proof}, context_);
    if (answer) return broken("it took " + excerpt(json::write(proof)) + " for a proof");
    const ErrorClass seen = answer.error().error_class;
    if (seen != ErrorClass::auth && seen != ErrorClass::invalid && seen != ErrorClass::not_found)
      return broken("given " + excerpt(json::write(proof)) + ", " + how_it_ended(answer) +
                    "; expected auth, invalid or notFound");
    if (answer.error().message.empty()) return broken("it does not say why");
  }
  return kept();
}

// Checks with words in them, and nothing that is launched: that is seen at the end of all requests.
void ProviderContract::check_diagnosis() {
  if (!offers(capability::diagnosis)) return;
  findings_.promise("diagnose", "says of each check what was seen, and what to do if it failed",
                    [&]() -> Finding {
                      if (!launch_config_) return unchecked("nothing was expanded");
                      const auto answer = provider_.diagnose({owner_, {*launch_config_}}, context_);
                      if (!answer) return broken(failure_of("diagnose", answer));
                      if (answer->checks.empty()) return broken("it checked nothing");
                      for (const Diagnosis::Check& check : answer->checks)
                        if (check.subject.empty() || check.message.empty() ||
                            (check.outcome == CheckOutcome::failed && check.remedy.empty()))
                          return broken("no subject, message or remedy: " + encode(check));
                      return kept();
                    });
}

void ProviderContract::check_nothing_more_was_launched() {
  findings_.promise("requests", "none of them launched anything", [&]() -> Finding {
    const auto listing = provider_.list({owner_}, context_);
    if (!listing) return broken(failure_of("list", listing));
    if (listing->instances.size() != launched_.size())
      return broken(std::to_string(launched_.size()) + " instances before, " +
                    std::to_string(listing->instances.size()) + " now");
    return kept();
  });
}

void ProviderContract::check_terminate() {
  findings_.promise("terminate", "of a worker that never was succeeds", [&]() -> Finding {
    const auto answer = provider_.terminate(
        {owner_, {{WorkerGroup("contract-nowhere"), WorkerId("contract-nobody")}}, "contract"},
        context_);
    if (!answer) return broken(failure_of("terminate", answer));
    if (!answer->failures.empty()) return broken(words(answer->failures[0].error));
    return kept();
  });
  if (!launches()) return;
  findings_.promise("terminate", "leaves the workers of other hosts alone",
                    [&] { return leaves_others_alone(); });
  findings_.promise("terminate", "makes the worker stop", [&] { return terminates(); });
  findings_.promise("terminate", "twice succeeds", [&] { return terminates(); });
  findings_.promise(
      "allocate", "a key whose worker was terminated launches no other", [&]() -> Finding {
        if (launched_.empty()) return unchecked("nothing was launched");
        const auto answer =
            provider_.allocate(allocate_request({launched_[0].idempotency_key}), context_);
        if (!answer || answer->launches.size() != 1) return kept();  // it refused
        const auto& again = answer->launches[0].instance;
        if (again && again->worker_id != launched_[0].worker_id)
          return broken("it launched " + again->worker_id.str());
        return kept();
      });
}

Finding ProviderContract::leaves_others_alone() {
  if (launched_.empty()) return unchecked("nothing was launched");
  Owner other = owner_;
  other.host_id = "contract-other-host";
  const auto answer = provider_.terminate({other, {ref_to(launched_[0])}, "contract"}, context_);
  if (!answer) return kept();  // a refusal leaves it alone, too
  std::string trouble;
  const auto seen = listed(launched_[0].worker_id, trouble);
  if (!seen || seen->state == InstanceState::stopping || seen->state == InstanceState::stopped)
    return broken(encode(other) + " terminated a worker of " + encode(owner_));
  return kept();
}

Finding ProviderContract::terminates() {
  if (launched_.empty()) return unchecked("nothing was launched");
  TerminateRequest request{owner_, {}, "contract"};
  for (const Instance& instance : launched_) request.workers.push_back(ref_to(instance));
  const auto answer = provider_.terminate(request, context_);
  if (!answer) return broken(failure_of("terminate", answer));
  if (!answer->failures.empty())
    return broken(answer->failures[0].worker_id.str() + ": " + words(answer->failures[0].error));
  for (const Instance& instance : launched_) {
    std::string trouble;
    const auto seen = listed(instance.worker_id, trouble);
    if (!trouble.empty()) return broken(trouble);
    if (seen && seen->state != InstanceState::stopping && seen->state != InstanceState::stopped)
      return broken(instance.worker_id.str() + " is still " + name_of(seen->state));
  }
  return kept();
}

std::vector<SampleRequest> ProviderContract::samples() const {
  std::vector<SampleRequest> made{sample("placements", PlacementsRequest{}),
                                  sample("list", ListRequest{owner_})};
  const WorkerPoolId pool("worker-manager/contract");
  if (!placements_.empty())
    made.push_back(sample("expand", ExpandRequest{pool, placements_.front(),
                                                  document_with(description_.example_section)}));
  if (launch_config_) made.push_back(sample("bid", bid_request()));
  if (!launched_.empty())
    made.push_back(sample("allocate", allocate_request({launched_[0].idempotency_key})));
  made.push_back(sample(
      "terminate",
      TerminateRequest{
          owner_, {{WorkerGroup("contract-nowhere"), WorkerId("contract-nobody")}}, "contract"}));
  made.push_back(sample("identify", IdentifyRequest{pool,
                                                    WorkerGroup("contract-nowhere"),
                                                    WorkerId("contract-nobody"),
                                                    json::object{{"token", "wrong"}},
                                                    {},
                                                    "192.0.2.1"}));
  if (offers(capability::notices)) made.push_back(sample("notices", NoticesRequest{owner_}));
  if (offers(capability::diagnosis)) made.push_back(sample("diagnose", DiagnoseRequest{owner_}));
  return made;
}

void ProviderContract::clean_up() {
  const auto listing = provider_.list({owner_}, context_);
  if (!listing) return;
  TerminateRequest request{owner_, {}, "contract"};
  for (const Instance& instance : listing->instances) request.workers.push_back(ref_to(instance));
  if (!request.workers.empty()) (void)provider_.terminate(request, context_);
}

}  // namespace muster::testing
