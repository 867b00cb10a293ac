// Questions to several DNS servers, on one thread.
//
// The server that answered last is asked first; if one fails, does not answer in time or says
// something that makes no sense, the next one is asked, each at most `tries` times. Only what a
// server says for sure (there is this, there is no such thing) ends a question early.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/log.hpp"
#include "relay/resolver.hpp"

namespace muster::relay {

struct DnsSettings {
  std::vector<std::string> servers;  // "192.0.2.53:53"; none: those of /etc/resolv.conf
  std::chrono::milliseconds timeout = std::chrono::seconds(1);   // of one try
  std::uint32_t tries = 2;                                       // of each server
  std::chrono::milliseconds deadline = std::chrono::seconds(5);  // of all questions of one machine
  std::uint32_t at_once = 64;                                    // machines
  friend bool operator==(const DnsSettings&, const DnsSettings&) = default;
};

class DnsResolver final : public Resolver {
 public:
  // Fails as `config` if there is no server, or none of that address can be asked.
  static Result<std::unique_ptr<DnsResolver>> start(const DnsSettings& settings, Log log);
  // As stop().
  ~DnsResolver() override;
  DnsResolver(const DnsResolver&) = delete;
  DnsResolver& operator=(const DnsResolver&) = delete;

  void ask(const Question& question, SteadyTime deadline, Done done) override;

  // Ends the thread: questions that are under way, and all that come later, are answered with
  // `unreachable`. Idempotent. Not from the resolver's own thread.
  void stop();

  // How often servers gave which result, for questions of this type (PTR, or A and AAAA).
  std::uint64_t counted(bool reverse, DnsResult result) const;

 private:
  struct Impl;
  explicit DnsResolver(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::relay
