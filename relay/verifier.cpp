#include "relay/verifier.hpp"

#include <utility>

namespace muster::relay {

struct Verifier::Flight {
  Address address;
  std::shared_ptr<const NameRules> rules;
  NameVerification verification;
  SteadyTime deadline;
  std::vector<std::pair<Done, Source>> waiting;  // guarded by the verifier's mutex
};

Verifier::Verifier(Resolver& resolver, const Clock& clock, VerifierSettings settings,
                   CacheSettings cache, std::shared_ptr<const NameRules> rules)
    : resolver_(resolver),
      clock_(clock),
      settings_(settings),
      cache_(cache),
      rules_(std::move(rules)) {}

void Verifier::verify(const Address& address, Done done) {
  const SteadyTime now = clock_.steady();
  std::shared_ptr<const Verdict> known;
  std::shared_ptr<Flight> started;
  Source source = Source::cache;
  {
    const std::lock_guard guard(mutex_);  // so that no verdict lands between both looks
    known = cache_.find(address, now);
    const auto running = flights_.find(address);
    if (known) {
      source = Source::cache;
    } else if (running != flights_.end()) {
      source = Source::shared_lookup;
      running->second->waiting.emplace_back(std::exchange(done, {}), source);
    } else if (flights_.size() >= settings_.at_once) {
      source = Source::too_busy;
    } else {
      source = Source::own_lookup;
      started = std::make_shared<Flight>(
          Flight{address, rules_, NameVerification(address, rules_), now + settings_.deadline, {}});
      started->waiting.emplace_back(std::exchange(done, {}), source);
      flights_.emplace(address, started);
    }
  }
  ++counts_[static_cast<std::size_t>(source)];
  if (started) step(started);
  if (done) done(std::move(known), source);
}

void Verifier::step(const std::shared_ptr<Flight>& flight) {
  if (flight->verification.question() && clock_.steady() >= flight->deadline)
    flight->verification.give_up(DnsResult::timed_out);
  if (!flight->verification.question()) return land(flight);
  resolver_.ask(*flight->verification.question(), flight->deadline,
                [this, flight](const DnsAnswer& answer) {
                  flight->verification.take(answer);
                  step(flight);
                });
}

void Verifier::land(const std::shared_ptr<Flight>& flight) {
  const auto verdict = std::make_shared<const Verdict>(flight->verification.verdict());
  std::vector<std::pair<Done, Source>> waiting;
  {
    const std::lock_guard guard(mutex_);
    if (flight->rules == rules_) cache_.put(flight->address, verdict, clock_.steady());
    waiting.swap(flight->waiting);
    if (const auto found = flights_.find(flight->address);
        found != flights_.end() && found->second == flight)
      flights_.erase(found);
  }
  for (auto& [done, source] : waiting) done(verdict, source);
}

void Verifier::replace_rules(std::shared_ptr<const NameRules> rules) {
  const std::lock_guard guard(mutex_);
  rules_ = std::move(rules);
  cache_.clear();
  // Lookups that run end by the old rules, for those who asked then.
  flights_.clear();
}

std::size_t Verifier::running() const {
  const std::lock_guard guard(mutex_);
  return flights_.size();
}

}  // namespace muster::relay
