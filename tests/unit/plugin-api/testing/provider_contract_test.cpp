// The contract notices every way in which a provider can break it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/provider/simulated/cloud.hpp"
#include "tests/unit/plugin-api/testing/flawed.hpp"

namespace muster::testing {
namespace {

class FlawedProvider final : public Provider {
 public:
  FlawedProvider(simulated::Settings settings, std::string flaw)
      : cloud_(std::move(settings)), flaw_(std::move(flaw)) {}

  Result<Placements> placements(const PlacementsRequest& request, const Context& context) override {
    if (flaw("has no placements")) return Placements{};
    auto answer = cloud_.placements(request, context);
    if (answer && flaw("forgets the region")) answer->placements[0].facts.erase("region");
    if (answer && flaw("invents facts")) answer->placements[0].facts["mood"] = "good";
    if (answer && flaw("repeats a placement")) answer->placements.push_back(answer->placements[0]);
    return answer;
  }
  Result<Expansion> expand(const ExpandRequest& request, const Context& context) override {
    auto answer = cloud_.expand(request, context);
    if (flaw("expands by the clock") && answer)
      answer->launch_documents[0].document["now"] = format_time(context.now());
    if (flaw("takes any section") && !answer) return Expansion{};
    if (flaw("hides the place of a mistake") && !answer) return Error::invalid("something");
    return answer;
  }
  Result<Bids> bid(const BidRequest& request, const Context& context) override {
    auto answer = cloud_.bid(request, context);
    if (!answer) return answer;
    if (flaw("bids without candidates") && request.candidates.empty())
      answer->bids.push_back({LaunchConfigId("lc"), 1, 1, 1});
    for (Bid& bid : answer->bids) {
      if (flaw("bids for others")) bid.launch_config_id = LaunchConfigId("lc-other");
      if (flaw("bids beyond the room")) bid.instances = 3;
      if (flaw("bids below zero")) bid.price_per_capacity_hour = -1;
      if (flaw("is too reliable")) bid.reliability = 1.1;
    }
    if (flaw("bids by launching") && !request.candidates.empty())
      (void)cloud_.allocate({request.owner,
                             request.candidates[0].launch_config,
                             {},
                             {IdempotencyKey("eager")},
                             {},
                             {}},
                            context);
    return answer;
  }
  Result<Allocation> allocate(const AllocateRequest& request, const Context& context) override {
    if (flaw("throws when it launches")) throw std::runtime_error("ouch");
    AllocateRequest asked = request;
    if (flaw("forgets keys"))
      for (IdempotencyKey& key : asked.idempotency_keys)
        key = IdempotencyKey(key.str() + "#" + std::to_string(++launches_));
    if (flaw("forgets tags")) asked.tags.clear();
    if (flaw("forgets the epoch")) asked.owner.epoch = 0;
    auto answer = cloud_.allocate(asked, context);
    if (!answer) return answer;
    for (std::size_t i = 0; i < answer->launches.size(); ++i) {
      Launch& launch = answer->launches[i];
      launch.idempotency_key = request.idempotency_keys[i];
      if (launch.instance) launch.instance->idempotency_key = request.idempotency_keys[i];
      if (flaw("answers neither") && launch.instance) launch.instance.reset();
    }
    if (flaw("answers out of order"))
      std::reverse(answer->launches.begin(), answer->launches.end());
    if (flaw("drops an answer") && answer->launches.size() > 1) answer->launches.pop_back();
    return answer;
  }
  Result<Listing> list(const ListRequest& request, const Context& context) override {
    ListRequest asked = request;
    if (flaw("shows everything")) asked.owner.host_id = "contract-host";
    auto answer = cloud_.list(asked, context);
    if (flaw("lists late") && answer) answer->instances.clear();
    if (flaw("hides earlier epochs") && answer)
      std::erase_if(answer->instances,
                    [&](const Instance& i) { return i.epoch != request.owner.epoch; });
    if (answer) announce(*answer);
    return answer;
  }
  Result<Termination> terminate(const TerminateRequest& request, const Context& context) override {
    TerminateRequest asked = request;
    if (flaw("terminates for anybody")) asked.owner.host_id = "contract-host";
    if (flaw("terminates nothing")) return Termination{};
    if (flaw("misses the missing") && request.workers[0].worker_id == WorkerId("contract-nobody"))
      return Termination{{{request.workers[0].worker_group, request.workers[0].worker_id,
                           Error::not_found("no")}}};
    if (flaw("terminates once") && terminated_++ > 1) return Error::not_found("gone already");
    return cloud_.terminate(asked, context);
  }
  Result<Identity> identify(const IdentifyRequest& request, const Context& context) override {
    if (flaw("believes anybody")) return Identity{request.worker_group, request.worker_id};
    if (flaw("refuses oddly")) return Error::transient("try again");
    if (flaw("admits everybody who is vouched for") && request.voucher)
      return Identity{.worker_group = request.worker_group,
                      .worker_id = request.worker_id,
                      .admission = Admission{}};
    return cloud_.identify(request, context);
  }
  Result<Notices> notices(const NoticesRequest& request, const Context& context) override {
    if (flaw("has no notices")) return Provider::notices(request, context);
    return cloud_.notices(request, context);
  }
  Result<Diagnosis> diagnose(const DiagnoseRequest& request, const Context& context) override {
    if (flaw("has no diagnosis") || flaw("announces nothing"))
      return Provider::diagnose(request, context);
    if (flaw("checks nothing")) return Diagnosis{};
    return Diagnosis{
        {{"credentials", CheckOutcome::good, "none are needed"},
         {"quota", CheckOutcome::failed, "0", flaw("knows no remedy") ? "" : "raise it"}}};
  }

 private:
  bool flaw(std::string_view name) const { return flaw_ == name; }

  void announce(Listing& listing) {
    const AnnouncedMachine good{WorkerPoolId("a/b"), WorkerGroup("rack"), WorkerId("m-1")};
    AnnouncedMachine odd = good;
    if (flaw("announces without saying so")) listing.announced = {good};
    if (flaw("announces a machine twice")) listing.announced = {good, good};
    if (flaw("announces nobody")) odd.worker_id = WorkerId();
    if (flaw("announces too little")) odd.capacity = 0;
    if (flaw("announces by chance")) odd.worker_id = WorkerId(std::to_string(++launches_));
    if (flaw("announces what it launched") && !listing.instances.empty()) {
      odd.worker_group = listing.instances[0].worker_group;
      odd.worker_id = listing.instances[0].worker_id;
    }
    if (odd.worker_id != good.worker_id || odd.capacity != 1) listing.announced = {odd};
  }

  simulated::Cloud cloud_;
  std::string flaw_;
  int launches_ = 0, terminated_ = 0;
};

// describe() counts its calls in `described`.
ContractSubject subject_with(const std::string& flaw, std::shared_ptr<int> described) {
  ContractSubject subject;
  if (flaw == "stays when cancelled") subject.patience = std::chrono::milliseconds(10);
  subject.describe = [flaw, described]() -> Result<std::string> {
    if (flaw == "cannot describe itself") return Error::internal("no");
    ProviderDescription description{
        .name = "flawed",
        .version = "1",
        .description = flaw == "has nothing to say" ? "" : "keeps every promise but one",
        .config_schema = simulated::config_schema(),
        .section = "simulated",
        .section_schema = simulated::section_schema(),
        .facts = {{"availabilityZone", ""}},
        .capabilities = {capability::notices, capability::diagnosis},
        .example_config = simulated::example_config(),
        .example_section = {{"instanceTypes", json::array{"small"}}}};
    if (flaw == "changes its mind") description.version = std::to_string(++*described);
    if (flaw == "has a schema that is none") description.config_schema = {{"type", "objct"}};
    if (flaw == "has a schema for anything") description.section_schema = {};
    if (flaw == "has an example that does not fit") description.example_section["colour"] = 1;
    if (flaw == "announces nothing") description.capabilities.clear();
    if (flaw.starts_with("announces ") && flaw != "announces nothing" &&
        flaw != "announces without saying so")
      description.capabilities.push_back(capability::announced_workers);
    if (flaw == "has no section") description.section.clear();
    return encode(description);
  };
  subject.describe_confined = [flaw, subject]() -> Result<std::string> {
    if (flaw == "reads a file to describe itself") return Error::internal("it called openat");
    return subject.describe();
  };
  subject.create = [flaw](std::string_view config,
                          const Context&) -> Result<std::unique_ptr<Channel>> {
    auto object = json::parse_object(config);
    if (!object && flaw != "makes instances of nonsense") return object.error();
    auto settings = simulated::read_settings(object ? *object : simulated::example_config());
    if (!settings && flaw == "takes any configuration")
      settings = simulated::read_settings(simulated::example_config());
    if (!settings) return settings.error();
    return std::make_unique<ObjectChannel<Provider>>(
        std::make_unique<FlawedProvider>(std::move(*settings), flaw), flaw);
  };
  return subject;
}

struct Case {
  const char* flaw;
  const char* promise;
};

class BrokenProvider : public ::testing::TestWithParam<Case> {};

TEST_P(BrokenProvider, is_noticed) {
  const auto checks = check_provider(subject_with(GetParam().flaw, std::make_shared<int>(0)));
  EXPECT_THAT(not_kept(checks), ::testing::Contains(GetParam().promise)) << report(checks);
}

INSTANTIATE_TEST_SUITE_P(
    each, BrokenProvider,
    ::testing::Values(
        Case{"cannot describe itself", "describe: answers with a JSON object, without an instance"},
        Case{"has nothing to say", "describe: says name, version and what the plugin is for"},
        Case{"changes its mind", "describe: answers the same each time"},
        Case{"reads a file to describe itself", "describe: does no I/O"},
        Case{"has a schema that is none", "describe: configSchema is a JSON Schema of an object"},
        Case{"has a schema for anything", "describe: sectionSchema is a JSON Schema of an object"},
        Case{"has an example that does not fit", "describe: exampleSection fits sectionSchema"},
        Case{"has no section", "describe: has all that a provider's description needs"},
        Case{"announces nothing",
             "notices: is offered if and only if the description announces it"},
        Case{"has no notices", "notices: is offered if and only if the description announces it"},
        Case{"has no diagnosis",
             "diagnose: is offered if and only if the description announces it"},
        Case{"checks nothing",
             "diagnose: says of each check what was seen, and what to do if it failed"},
        Case{"knows no remedy",
             "diagnose: says of each check what was seen, and what to do if it failed"},
        Case{"makes instances of nonsense", "create: refuses what is no JSON object as invalid"},
        Case{"takes any configuration", "create: refuses members of the wrong type as invalid"},
        Case{"has no placements", "placements: there is at least one"},
        Case{"forgets the region",
             "placements: each names its region, and the facts it was described with"},
        Case{"invents facts",
             "placements: each names its region, and the facts it was described with"},
        Case{"repeats a placement", "placements: no two are the same"},
        Case{"expands by the clock",
             "expand: gives the same documents for the same request, from any instance"},
        Case{"takes any section", "expand: refuses a wrong section as invalid and says where"},
        Case{"hides the place of a mistake",
             "expand: refuses a wrong section as invalid and says where"},
        Case{"bids for others", "bid: is for the candidates that were asked, within their limits"},
        Case{"bids beyond the room",
             "bid: is for the candidates that were asked, within their limits"},
        Case{"bids below zero", "bid: is for the candidates that were asked, within their limits"},
        Case{"is too reliable", "bid: is for the candidates that were asked, within their limits"},
        Case{"bids without candidates", "bid: without candidates returns no bids"},
        Case{"bids by launching", "bid: launches nothing"},
        Case{"throws when it launches",
             "allocate: answers each key, in order, with an instance or an error"},
        Case{"answers neither",
             "allocate: answers each key, in order, with an instance or an error"},
        Case{"answers out of order",
             "allocate: answers each key, in order, with an instance or an error"},
        Case{"drops an answer",
             "allocate: answers each key, in order, with an instance or an error"},
        Case{"forgets keys", "allocate: the same key twice launches once and answers alike"},
        Case{"forgets tags", "list: shows what was allocated, with all that the host gave it"},
        Case{"forgets the epoch", "list: shows what was allocated, with all that the host gave it"},
        Case{"lists late", "list: shows what was allocated, with all that the host gave it"},
        Case{"shows everything", "list: shows nothing of another host or provider"},
        Case{"hides earlier epochs", "list: shows what an earlier start of the host launched"},
        Case{"announces without saying so",
             "list: announces machines only as its capabilities say, each once and whole"},
        Case{"announces a machine twice",
             "list: announces machines only as its capabilities say, each once and whole"},
        Case{"announces nobody",
             "list: announces machines only as its capabilities say, each once and whole"},
        Case{"announces too little",
             "list: announces machines only as its capabilities say, each once and whole"},
        Case{"announces by chance",
             "list: announces machines only as its capabilities say, each once and whole"},
        Case{"announces what it launched",
             "list: announces machines only as its capabilities say, each once and whole"},
        Case{"admits everybody who is vouched for",
             "identify: admits no worker without a proof, known to the host or not"},
        Case{"believes anybody", "identify: refuses proofs that prove nothing, and says why"},
        Case{"refuses oddly", "identify: refuses proofs that prove nothing, and says why"},
        Case{"terminates nothing", "terminate: makes the worker stop"},
        Case{"terminates once", "terminate: twice succeeds"},
        Case{"terminates for anybody", "terminate: leaves the workers of other hosts alone"},
        Case{"misses the missing", "terminate: of a worker that never was succeeds"},
        Case{"takes nonsense for a request",
             "requests: what is no JSON object in UTF-8 is refused as invalid"},
        Case{"calls mistakes transient",
             "requests: values of the wrong type are refused as invalid"},
        Case{"is silent about mistakes",
             "requests: a missing member is refused as invalid and named"},
        Case{"knows every method",
             "requests: methods that do not exist are refused as unsupported"},
        Case{"dislikes newer hosts", "requests: members that the plugin does not know are ignored"},
        Case{"stays when cancelled", "requests: a cancelled call returns at once"},
        Case{"breaks after nonsense", "requests: the instance works on after all of them"}));

TEST(GoodProvider, keeps_every_promise) {
  const auto checks = check_provider(subject_with("", std::make_shared<int>(0)));
  EXPECT_THAT(not_kept(checks), ::testing::IsEmpty()) << report(checks);
  for (const Check& check : checks)
    EXPECT_EQ(check.outcome, Outcome::kept) << check.about << ": " << check.promise;
}

TEST(Report, says_what_is_broken_and_counts) {
  EXPECT_EQ(report({{"describe", "does no I/O", Outcome::kept, ""},
                    {"list", "shows it", Outcome::broken, "i-1: it is not there"},
                    {"bid", "is cheap", Outcome::unchecked, "nothing was expanded"}}),
            "  ok      describe  does no I/O\n"
            "  BROKEN  list      shows it\n"
            "                    i-1: it is not there\n"
            "  --      bid       is cheap\n"
            "                    nothing was expanded\n"
            "1 promises kept, 1 broken, 1 could not be checked\n");
  EXPECT_FALSE(all_kept(check_plugin("pump", {})));
}

}  // namespace
}  // namespace muster::testing
