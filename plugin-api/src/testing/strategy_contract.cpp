// The strategy's promises.
#include <algorithm>
#include <chrono>
#include <map>

#include "findings.hpp"

namespace muster::testing {
namespace {

SizeRequest size_request(std::int64_t pending, std::int64_t running, std::int64_t requested,
                         std::int64_t min, std::int64_t max, double ratio = 0) {
  SizeRequest request{WorkerPoolId("worker-manager/contract"),
                      pending,
                      {running, requested, 0, 0},
                      {min, max, ratio, {}},
                      {}};
  const Time at(std::chrono::sys_days(std::chrono::year(2026) / 1 / 1));
  request.history.push_back({at, pending, request.capacity, 1, 0});
  return request;
}

SelectRequest::Offer offer(const std::string& id, std::int64_t instances, std::int64_t capacity,
                           double price, double weight = 1) {
  return {BidId(id), ProviderId("provider-" + id), weight,
          Bid{LaunchConfigId("lc-" + id), capacity, instances, price, 0.9, {}, {}}};
}

SelectRequest select_request(std::int64_t capacity, std::vector<SelectRequest::Offer> offers,
                             std::uint64_t seed = 1) {
  return {
      WorkerPoolId("worker-manager/contract"), capacity, {0, 1000, 0, {}}, std::move(offers), seed};
}

std::vector<SelectRequest::Offer> plenty() {
  return {offer("a", 5, 1, 0.10), offer("b", 3, 4, 0.05), offer("c", 10, 2, 0.20, 0.5)};
}

// Requests that a strategy meets and that lead careless ones astray.
std::vector<SelectRequest> select_requests() {
  std::vector<SelectRequest> made;
  for (const std::int64_t capacity : {1, 2, 5, 7, 20, 37, 500})
    for (const std::uint64_t seed : {0, 1, 2})
      made.push_back(select_request(capacity, plenty(), seed));
  made.push_back(select_request(5, {offer("free", 9, 1, 0)}));
  made.push_back(select_request(5, {offer("none", 0, 1, 0.1), offer("one", 1, 1, 0.1)}));
  made.push_back(select_request(5, {offer("odd", 9, 0, 0.1), offer("one", 1, 1, 0.1)}));
  made.push_back(select_request(5, {offer("sick", 9, 1, 0.1, 0)}));
  made.push_back(select_request(3, {offer("large", 9, 64, 0.01)}));
  made.push_back(select_request(
      2'000'000, {offer("endless", 1'000'000'000, 1, 0.1), offer("too", 1'000'000'000, 3, 0.1)}));
  std::vector<SelectRequest::Offer> many;
  for (int i = 0; i < 300; ++i) many.push_back(offer(std::to_string(i), 2, 1 + i % 4, 0.01 * i));
  made.push_back(select_request(250, many, 5));
  return made;
}

class StrategyContract {
 public:
  StrategyContract(Findings& findings, const ContractSubject& subject,
                   const json::object& description, Channel& channel)
      : findings_(findings),
        subject_(subject),
        description_(description),
        channel_(channel),
        strategy_(channel) {
    context_.set_time_left(subject.deadline);
  }

  void check_size();
  void check_select();
  std::vector<SampleRequest> samples() const;

 private:
  // The same request again, later, and to an instance that has not seen the others.
  Finding answers_alike(const char* method, const std::vector<std::string>& requests);
  Finding sizes_within_limits();
  Finding selects_only_offers();
  Finding selects_no_more_than_needed();
  Finding selects_nothing(const SelectRequest& request);

  Findings& findings_;
  const ContractSubject& subject_;
  const json::object& description_;
  Channel& channel_;
  StrategyClient strategy_;
  FakeContext context_;
};

Finding StrategyContract::answers_alike(const char* method,
                                        const std::vector<std::string>& requests) {
  const json::value* example = description_.if_contains("exampleConfig");
  const auto fresh = subject_.create(json::write(example ? *example : json::object()), context_);
  if (!fresh) return broken(failure_of("create", fresh));
  for (const std::string& request : requests) {
    const auto first = channel_.call(method, request, context_);
    context_.advance(std::chrono::hours(1));
    const auto second = channel_.call(method, request, context_);
    const auto third = (*fresh)->call(method, request, context_);
    for (const auto* answer : {&first, &second, &third})
      if (!*answer) return broken(failure_of(method, *answer) + ", asked " + excerpt(request));
    if (*first != *second)
      return broken("first " + excerpt(*first) + ", later " + excerpt(*second) + ", asked " +
                    excerpt(request));
    if (*first != *third)
      return broken("first " + excerpt(*first) + ", another instance " + excerpt(*third) +
                    ", asked " + excerpt(request));
  }
  return kept();
}

void StrategyContract::check_size() {
  findings_.promise("size", "same request, same answer", [&] {
    return answers_alike(
        "size", {encode(size_request(0, 0, 0, 0, 20)), encode(size_request(10, 3, 2, 0, 100, 1))});
  });
  findings_.promise("size", "keeps the pool between minCapacity and maxCapacity",
                    [&] { return sizes_within_limits(); });
  findings_.promise("size", "says why", [&]() -> Finding {
    const auto answer = strategy_.size(size_request(10, 3, 2, 0, 100, 1), context_);
    if (!answer) return broken(failure_of("size", answer));
    if (answer->reason.empty()) return broken("its reason is empty");
    return kept();
  });
}

Finding StrategyContract::sizes_within_limits() {
  for (const SizeRequest& request :
       {size_request(0, 0, 0, 0, 20), size_request(0, 0, 0, 1, 20), size_request(30, 0, 0, 1, 20),
        size_request(5, 5, 0, 0, 20), size_request(10'000, 0, 40, 0, 1000, 0.2),
        size_request(50, 18, 1, 0, 20), size_request(0, 30, 0, 0, 20),
        size_request(1'000'000, 7, 0, 0, 0), size_request(0, 1, 1, 5, 20),
        size_request(1, 0, 0, 0, 1, -3.5)}) {
    const auto answer = strategy_.size(request, context_);
    const std::string asked = ", asked " + json::write(codec::to_value(request.capacity)) +
                              " with " + json::write(codec::to_value(request.settings));
    if (!answer) return broken(failure_of("size", answer) + asked);
    const auto present = request.capacity.running + request.capacity.requested;
    const auto after = present + answer->capacity;
    if (answer->capacity > 0 && after > request.settings.max_capacity)
      return broken("it wants " + std::to_string(answer->capacity) + " more" + asked);
    if (present < request.settings.min_capacity && after < request.settings.min_capacity)
      return broken("it wants only " + std::to_string(answer->capacity) + " more" + asked);
  }
  return kept();
}

void StrategyContract::check_select() {
  findings_.promise("select", "same request, same answer", [&] {
    return answers_alike(
        "select", {encode(select_request(7, plenty(), 1)), encode(select_request(7, plenty(), 2)),
                   encode(select_request(1, {}))});
  });
  findings_.promise("select",
                    "takes only what is offered, each bid once, at most as often as it says",
                    [&] { return selects_only_offers(); });
  findings_.promise("select", "takes no instance that is not needed",
                    [&] { return selects_no_more_than_needed(); });
  findings_.promise("select", "of no offers is nothing, with a reason",
                    [&] { return selects_nothing(select_request(5, {})); });
  findings_.promise("select", "for no capacity is nothing, with a reason", [&]() -> Finding {
    const Finding none = selects_nothing(select_request(0, plenty()));
    return none.outcome == Outcome::kept ? selects_nothing(select_request(-3, plenty())) : none;
  });
}

Finding StrategyContract::selects_only_offers() {
  for (const SelectRequest& request : select_requests()) {
    const auto answer = strategy_.select(request, context_);
    const std::string asked = ", asked " + excerpt(encode(request));
    if (!answer) return broken(failure_of("select", answer) + asked);
    if (answer->reason.empty()) return broken("its reason is empty" + asked);
    std::map<BidId, std::int64_t> room;
    for (const auto& offered : request.offers) room[offered.bid_id] = offered.bid.instances;
    for (const Selection::Choice& choice : answer->choices) {
      const auto found = room.find(choice.bid_id);
      if (found == room.end())
        return broken("it took " + choice.bid_id.str() + ", which is not offered or taken twice" +
                      asked);
      if (choice.instances < 1 || choice.instances > found->second)
        return broken("it took " + std::to_string(choice.instances) + " of " + choice.bid_id.str() +
                      ", which offers " + std::to_string(found->second) + asked);
      room.erase(found);
    }
  }
  return kept();
}

Finding StrategyContract::selects_no_more_than_needed() {
  for (const SelectRequest& request : select_requests()) {
    const auto answer = strategy_.select(request, context_);
    if (!answer) return broken(failure_of("select", answer));
    std::map<BidId, std::int64_t> capacity;
    for (const auto& offered : request.offers)
      capacity[offered.bid_id] = offered.bid.capacity_per_instance;
    std::int64_t total = 0, largest = 0;
    for (const Selection::Choice& choice : answer->choices) {
      const std::int64_t each = capacity[choice.bid_id];
      if (each < 1) return broken("it took " + choice.bid_id.str() + ", which has no capacity");
      total += each * choice.instances;
      largest = std::max(largest, each);
    }
    if (total - largest >= request.capacity && total > 0)
      return broken(std::to_string(request.capacity) + " wanted, " + std::to_string(total) +
                    " taken: one instance less would do, asked " + excerpt(encode(request)));
  }
  return kept();
}

Finding StrategyContract::selects_nothing(const SelectRequest& request) {
  const auto answer = strategy_.select(request, context_);
  if (!answer) return broken(failure_of("select", answer));
  if (!answer->choices.empty()) return broken("it took " + encode(answer->choices[0]));
  if (answer->reason.empty()) return broken("its reason is empty");
  return kept();
}

std::vector<SampleRequest> StrategyContract::samples() const {
  return {sample("size", size_request(10, 3, 2, 0, 100, 1)),
          sample("select", select_request(7, plenty()))};
}

}  // namespace

std::vector<Check> check_strategy(const ContractSubject& subject) {
  Findings findings;
  const auto description = check_description(findings, subject);
  if (!description) return findings.take();
  findings.promise("describe", "has all that a strategy's description needs", [&]() -> Finding {
    const auto read = from_value<StrategyDescription>(*description);
    return read ? kept() : broken(read.error().message);
  });
  check_schema(findings, *description, "configSchema", "exampleConfig");
  check_creation(findings, subject, *description);
  FakeContext context;
  context.set_time_left(subject.deadline);
  const json::value* example = description->if_contains("exampleConfig");
  const auto channel = subject.create(json::write(example ? *example : json::object()), context);
  if (!channel) return findings.take();  // check_creation said so
  StrategyContract contract(findings, subject, *description, **channel);
  contract.check_size();
  contract.check_select();
  check_requests(findings, subject, **channel, contract.samples());
  return findings.take();
}

}  // namespace muster::testing
