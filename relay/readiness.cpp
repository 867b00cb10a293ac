#include "relay/readiness.hpp"

namespace muster::relay {
namespace {

// A server that refuses this question may well answer those about its own zones.
bool answers(DnsResult result) {
  return result == DnsResult::answered || result == DnsResult::no_such_name ||
         result == DnsResult::no_such_record || result == DnsResult::refused;
}

}  // namespace

Question question_of_readiness() {
  return {reverse_name({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1}), RecordType::ptr};
}

Readiness::Readiness(std::vector<std::string> servers, AskServer ask, ReachHost reach,
                     const Clock& clock)
    : servers_(std::move(servers)), ask_(std::move(ask)), reach_(std::move(reach)), clock_(clock) {}

Readiness::Seen Readiness::look() {
  const std::lock_guard guard(mutex_);  // who comes meanwhile waits for the same look
  if (looked_ && clock_.steady() - *looked_ < holds_for) return seen_;
  json::object dns;
  bool any = false;
  for (const std::string& server : servers_) {
    const DnsResult result = ask_(server).result;
    any = any || answers(result);
    dns[server] = answers(result) ? "answers" : to_string(result);
  }
  const auto reached = reach_();
  seen_.ready = any && reached;
  seen_.document = {{"ready", seen_.ready}, {"dns", std::move(dns)}};
  seen_.document["host"] = reached ? json::value("answers") : json::value(reached.error().message);
  looked_ = clock_.steady();
  return seen_;
}

}  // namespace muster::relay
