// The contract notices every way in which a strategy can break it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/strategy/classic/selection.hpp"
#include "plugins/strategy/classic/sizing.hpp"
#include "tests/unit/plugin-api/testing/flawed.hpp"

namespace muster::testing {
namespace {

class FlawedStrategy final : public BiddingStrategy {
 public:
  explicit FlawedStrategy(std::string flaw) : flaw_(std::move(flaw)) {}

  Result<Size> size(const SizeRequest& request, const Context& context) override {
    auto answer = classic::size(request);
    if (!answer) return answer;
    if (flaw_ == "sizes by the clock") answer->reason += format_time(context.now());
    if (flaw_ == "counts its calls") answer->reason += std::to_string(++calls_);
    if (flaw_ == "exceeds the maximum") answer->capacity += 1000;
    if (flaw_ == "ignores the minimum")
      answer->capacity = std::min<std::int64_t>(0, answer->capacity);
    if (flaw_ == "sizes without a reason") answer->reason.clear();
    return answer;
  }

  Result<Selection> select(const SelectRequest& request, const Context&) override {
    auto answer = classic::select(request, {});
    if (!answer) return answer;
    if (flaw_ == "selects by chance") answer->reason += std::to_string(++calls_);
    if (flaw_ == "invents a bid") answer->choices.push_back({BidId("mine"), 1});
    if (flaw_ == "selects without a reason") answer->reason.clear();
    if (!request.offers.empty()) {
      if (flaw_ == "takes more than offered")
        answer->choices = {{request.offers[0].bid_id, request.offers[0].bid.instances + 1}};
      if (flaw_ == "takes a bid twice" && !answer->choices.empty())
        answer->choices.push_back(answer->choices[0]);
      if (flaw_ == "takes everything") {
        answer->choices.clear();
        for (const auto& offer : request.offers)
          if (offer.bid.instances > 0)
            answer->choices.push_back({offer.bid_id, offer.bid.instances});
      }
      if (flaw_ == "takes always one" && answer->choices.empty())
        answer->choices = {{request.offers[0].bid_id, 1}};
    }
    return answer;
  }

 private:
  std::string flaw_;
  int calls_ = 0;
};

ContractSubject subject_with(const std::string& flaw) {
  ContractSubject subject;
  subject.describe = []() -> Result<std::string> {
    return encode(StrategyDescription{
        "flawed", "1", "keeps every promise but one", {{"type", "object"}}, {}});
  };
  subject.describe_confined = subject.describe;
  subject.create = [flaw](std::string_view config,
                          const Context&) -> Result<std::unique_ptr<Channel>> {
    if (const auto object = json::parse_object(config); !object) return object.error();
    return std::make_unique<ObjectChannel<BiddingStrategy>>(std::make_unique<FlawedStrategy>(flaw),
                                                            flaw);
  };
  return subject;
}

struct Case {
  const char* flaw;
  const char* promise;
};

class BrokenStrategy : public ::testing::TestWithParam<Case> {};

TEST_P(BrokenStrategy, is_noticed) {
  const auto checks = check_strategy(subject_with(GetParam().flaw));
  EXPECT_THAT(not_kept(checks), ::testing::Contains(GetParam().promise)) << report(checks);
}

const char* const only_offers =
    "select: takes only what is offered, each bid once, at most as often as it says";

INSTANTIATE_TEST_SUITE_P(
    each, BrokenStrategy,
    ::testing::Values(
        Case{"sizes by the clock", "size: same request, same answer"},
        Case{"counts its calls", "size: same request, same answer"},
        Case{"exceeds the maximum", "size: keeps the pool between minCapacity and maxCapacity"},
        Case{"ignores the minimum", "size: keeps the pool between minCapacity and maxCapacity"},
        Case{"sizes without a reason", "size: says why"},
        Case{"selects by chance", "select: same request, same answer"},
        Case{"invents a bid", only_offers}, Case{"takes more than offered", only_offers},
        Case{"takes a bid twice", only_offers}, Case{"selects without a reason", only_offers},
        Case{"takes everything", "select: takes no instance that is not needed"},
        Case{"invents a bid", "select: of no offers is nothing, with a reason"},
        Case{"takes always one", "select: for no capacity is nothing, with a reason"},
        Case{"takes nonsense for a request",
             "requests: what is no JSON object in UTF-8 is refused as invalid"}));

TEST(GoodStrategy, keeps_every_promise) {
  const auto checks = check_strategy(subject_with(""));
  EXPECT_THAT(not_kept(checks), ::testing::IsEmpty()) << report(checks);
}

}  // namespace
}  // namespace muster::testing
