// Notices that a cloud is about to take the machine away.
#pragma once

#include <functional>
#include <string>

#include "agent/configuration.hpp"
#include "agent/event_loop.hpp"
#include "agent/http_client.hpp"

namespace muster::agent {

struct InterruptionNotice {
  std::optional<Time> at;  // when, if the cloud says it
  Milliseconds otherwise;  // how long it usually takes
  std::string reason;
  bool only_a_warning = false;  // it may happen; nothing is certain yet
};

// What the three answers mean; nothing if there is no notice in them. Pure.
std::optional<InterruptionNotice> read_aws_action(const std::string& body);
std::optional<InterruptionNotice> read_aws_rebalance(const std::string& body);
// Of the events only those that name this machine, or none, count.
std::optional<InterruptionNotice> read_azure_events(const std::string& body,
                                                    const std::string& machine);

// Watches as long as it lives. A notice is told once; a warning may be followed by the real one.
// Failures to ask are no news. THREADS: the loop's.
class InterruptionWatch {
 public:
  using Notify = std::function<void(const InterruptionNotice&)>;
  // `machine` is Azure's name of it.
  InterruptionWatch(IdentityKind cloud, std::string metadata_url, std::string machine,
                    Milliseconds interval, EventLoop& loop, HttpClient& http, Notify notify);
  ~InterruptionWatch();
  InterruptionWatch(const InterruptionWatch&) = delete;
  InterruptionWatch& operator=(const InterruptionWatch&) = delete;

 private:
  void ask();
  void ask_later(Milliseconds delay);
  void ask_aws();
  void get_token();
  void ask_rebalance();
  void ask_google();
  void ask_azure();
  void tell(const InterruptionNotice& notice);
  void send(HttpRequest request, std::function<void(const Result<HttpAnswer>&)> done);

  const IdentityKind cloud_;
  const std::string base_, machine_;
  const Milliseconds interval_;
  EventLoop& loop_;
  HttpClient& http_;
  const Notify notify_;
  EventLoop::Id timer_ = 0;
  std::uint64_t request_ = 0;
  std::string token_, etag_ = "0";
  int rounds_ = 0;
  bool warned_ = false;
};

}  // namespace muster::agent
