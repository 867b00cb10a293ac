// Before a worker exists: capabilities, placements, expand, bid.
#include "provider_contract.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace muster::testing {
namespace {

const char* const pool = "worker-manager/contract";

}  // namespace

ProviderContract::ProviderContract(Findings& findings, const ContractSubject& subject,
                                   const ProviderDescription& description, Channel& channel)
    : findings_(findings),
      subject_(subject),
      description_(description),
      channel_(channel),
      provider_(channel),
      owner_{"contract-host", ProviderId("contract-provider"), 7} {
  context_.set_time_left(subject.deadline);
}

bool ProviderContract::offers(std::string_view capability) const {
  return std::find(description_.capabilities.begin(), description_.capabilities.end(),
                   capability) != description_.capabilities.end();
}

void ProviderContract::check_capabilities() {
  const auto promise = [&](const char* capability, const char* method,
                           const json::object& request) {
    findings_.promise(
        method, "is offered if and only if the description announces it", [&]() -> Finding {
          const auto answer = channel_.call(method, json::write(request), context_);
          const bool refused = !answer && answer.error().error_class == ErrorClass::unsupported;
          if (offers(capability) && !answer)
            return broken(std::string("announced as \"") + capability + "\", but " +
                          failure_of(method, answer));
          if (!offers(capability) && !refused)
            return broken(std::string("not announced as \"") + capability + "\", but " +
                          how_it_ended(answer));
          return kept();
        });
  };
  promise(capability::notices, "notices", codec::to_value(NoticesRequest{owner_}).as_object());
  promise(capability::diagnosis, "diagnose", codec::to_value(DiagnoseRequest{owner_}).as_object());
}

void ProviderContract::check_placements() {
  findings_.promise("placements", "there is at least one", [&]() -> Finding {
    const auto answer = provider_.placements({}, context_);
    if (!answer) return broken(failure_of("placements", answer));
    placements_ = answer->placements;
    if (placements_.empty()) return broken("with its example configuration it has none");
    return kept();
  });
  findings_.promise("placements", "each names its region, and the facts it was described with",
                    [&]() -> Finding {
                      std::set<std::string> known{"region"};
                      for (const auto& fact : description_.facts) known.insert(fact.name);
                      for (const Placement& placement : placements_) {
                        const std::string shown = encode(placement);
                        const auto region = placement.facts.find("region");
                        if (region == placement.facts.end() || region->second.empty())
                          return broken("no region in " + shown);
                        for (const auto& [name, value] : placement.facts)
                          if (!known.contains(name))
                            return broken("the fact " + name + " in " + shown +
                                          " is not in the description's facts");
                      }
                      return kept();
                    });
  findings_.promise("placements", "no two are the same", [&]() -> Finding {
    std::set<Facts> seen;
    for (const Placement& placement : placements_)
      if (!seen.insert(placement.facts).second) return broken(encode(placement) + " occurs twice");
    return kept();
  });
}

json::object ProviderContract::document_with(const json::value& section) const {
  return {{description_.section, section},
          {"workerManager", json::object{}},
          {"workerConfig", json::object{{"contract", true}}}};
}

void ProviderContract::check_expand() {
  findings_.promise("expand", "makes a launch document of the example section", [&]() -> Finding {
    for (const Placement& placement : placements_) {
      const auto answer = provider_.expand(
          {WorkerPoolId(pool), placement, document_with(description_.example_section)}, context_);
      if (!answer) return broken("at " + encode(placement) + ", " + failure_of("expand", answer));
      if (answer->launch_documents.empty()) continue;
      const LaunchDocument& first = answer->launch_documents.front();
      launch_config_ = LaunchConfig{LaunchConfigId("lc-00000000000000000001"),
                                    WorkerPoolId(pool),
                                    placement,
                                    first.document,
                                    first.capacity_per_instance,
                                    first.instance_type};
      if (first.capacity_per_instance < 1)
        return broken("its capacity per instance is " +
                      std::to_string(first.capacity_per_instance));
      return kept();
    }
    return broken("nothing can be launched from exampleSection at any placement");
  });
  findings_.promise("expand", "gives the same documents for the same request, from any instance",
                    [&] { return expands_purely(); });
  findings_.promise("expand", "refuses a wrong section as invalid and says where",
                    [&] { return refuses_wrong_sections(); });
}

Finding ProviderContract::expands_purely() {
  if (!launch_config_) return unchecked("nothing was expanded");
  const ExpandRequest request{WorkerPoolId(pool), launch_config_->placement,
                              document_with(description_.example_section)};
  const auto first = channel_.call("expand", encode(request), context_);
  context_.advance(std::chrono::hours(1));
  const auto second = channel_.call("expand", encode(request), context_);
  const auto fresh = subject_.create(json::write(description_.example_config), context_);
  if (!fresh) return broken(failure_of("create", fresh));
  const auto third = (*fresh)->call("expand", encode(request), context_);
  if (!first || !second || !third) return broken("one of three calls failed");
  if (*first != *second)
    return broken("first " + excerpt(*first) + ", an hour later " + excerpt(*second));
  if (*first != *third)
    return broken("first " + excerpt(*first) + ", another instance " + excerpt(*third));
  return kept();
}

Finding ProviderContract::refuses_wrong_sections() {
  if (placements_.empty()) return unchecked("there is no placement");
  std::vector<std::pair<std::string, json::value>> wrong{{description_.section, "a text"},
                                                         {description_.section, json::array{1}}};
  for (auto& [member, section] :
       wrong_copies(description_.example_section, description_.section_schema))
    wrong.emplace_back(member, std::move(section));
  for (const auto& [member, section] : wrong) {
    const auto answer = provider_.expand(
        {WorkerPoolId(pool), placements_.front(), document_with(section)}, context_);
    if (answer || answer.error().error_class != ErrorClass::invalid)
      return broken("given " + excerpt(json::write(section)) + ", " + how_it_ended(answer));
    if (answer.error().message.find(member) == std::string::npos)
      return broken("\"" + member +
                    "\" is wrong, but the message does not name it: " + answer.error().message);
  }
  return kept();
}

BidRequest ProviderContract::bid_request() const {
  return {owner_,
          WorkerPoolId(pool),
          3 * launch_config_->capacity_per_instance,
          {{*launch_config_, 1.0, std::int64_t{2}}}};
}

void ProviderContract::check_bid() {
  findings_.promise("bid", "is for the candidates that were asked, within their limits",
                    [&] { return bids_within_what_was_asked(); });
  findings_.promise("bid", "launches nothing", [&]() -> Finding {
    const auto listing = provider_.list({owner_}, context_);
    if (!listing) return broken(failure_of("list", listing));
    if (!listing->instances.empty())
      return broken("after it, list shows " + std::to_string(listing->instances.size()) +
                    " instances");
    return kept();
  });
  findings_.promise("bid", "without candidates returns no bids", [&]() -> Finding {
    const auto answer = provider_.bid({owner_, WorkerPoolId(pool), 5, {}}, context_);
    if (!answer) return broken(failure_of("bid", answer));
    if (!answer->bids.empty()) return broken("it offers " + encode(answer->bids.front()));
    return kept();
  });
}

Finding ProviderContract::bids_within_what_was_asked() {
  if (!launch_config_) return unchecked("nothing was expanded");
  const auto answer = provider_.bid(bid_request(), context_);
  if (!answer) return broken(failure_of("bid", answer));
  for (const Bid& bid : answer->bids) {
    const auto wrong = [&](const std::string& what) { return broken(what + ": " + encode(bid)); };
    if (bid.launch_config_id != launch_config_->launch_config_id)
      return wrong("for a launch configuration that was not asked about");
    if (bid.instances < 0 || bid.instances > 2) return wrong("room is for 0 to 2 instances");
    if (bid.capacity_per_instance < 1) return wrong("no capacity");
    if (!(bid.price_per_capacity_hour >= 0)) return wrong("a negative price");
    if (!(bid.reliability >= 0 && bid.reliability <= 1))
      return wrong("reliability is not between 0 and 1");
    bid_data_ = bid.data;
    room_ += bid.instances;
  }
  if (answer->bids.empty() && answer->problems.empty())
    return broken("it offers nothing and names no problem");
  return kept();
}

std::vector<Check> check_provider(const ContractSubject& subject) {
  Findings findings;
  const auto object = check_description(findings, subject);
  if (!object) return findings.take();
  std::optional<ProviderDescription> description;
  findings.promise("describe", "has all that a provider's description needs", [&]() -> Finding {
    const auto read = from_value<ProviderDescription>(*object);
    if (!read) return broken(read.error().message);
    if (read->section.empty()) return broken("\"section\" is empty");
    description = *read;
    return kept();
  });
  if (!description) return findings.take();
  check_schema(findings, *object, "configSchema", "exampleConfig");
  check_schema(findings, *object, "sectionSchema", "exampleSection");
  check_creation(findings, subject, *object);
  FakeContext context;
  context.set_time_left(subject.deadline);
  const auto channel = subject.create(json::write(description->example_config), context);
  if (!channel) return findings.take();  // check_creation said so
  ProviderContract contract(findings, subject, *description, **channel);
  contract.check_capabilities();
  contract.check_placements();
  contract.check_expand();
  contract.check_bid();
  if (contract.launches()) {
    contract.check_allocate();
    contract.check_list();
  } else {
    contract.check_launches_nothing();
  }
  contract.check_announced();
  contract.check_identify();
  contract.check_diagnosis();
  check_requests(findings, subject, **channel, contract.samples());
  contract.check_nothing_more_was_launched();
  contract.check_terminate();
  contract.clean_up();
  return findings.take();
}

}  // namespace muster::testing
