// One DNS server and the questions that are under way to it: c-ares, with one try for each
// question, by UDP, or TCP if the answer is too large for that. Each question has a socket of its
// own, on a port at random: a forged answer must guess that and the question's number. Private to
// this folder.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <poll.h>
#include <string>
#include <vector>

#include <muster/error.hpp>

#include "relay/name_verification.hpp"

namespace muster::relay {

// Owned by one thread.
class DnsServer {
 public:
  // "192.0.2.53:53", "[2001:db8::53]:53".
  static Result<std::unique_ptr<DnsServer>> open(const std::string& address,
                                                 std::chrono::milliseconds timeout);
  ~DnsServer();  // questions that are under way are answered with `unreachable`
  DnsServer(const DnsServer&) = delete;
  DnsServer& operator=(const DnsServer&) = delete;

  // `done` is called by process(), by the destructor, or from inside.
  void ask(const Question& question, std::function<void(DnsAnswer)> done);

  // What to wait for, and for how long at most.
  void append_sockets(std::vector<pollfd>& sockets) const;
  std::chrono::milliseconds wait_at_most(std::chrono::milliseconds longest) const;
  void process(const std::vector<pollfd>& sockets);

  const std::string& address() const { return address_; }

 private:
  struct Query;
  DnsServer(std::string address, std::chrono::milliseconds timeout);
  const std::string address_;
  const std::chrono::milliseconds timeout_;
  std::vector<std::unique_ptr<Query>> queries_;
};

// The addresses of /etc/resolv.conf, as open() takes them.
std::vector<std::string> system_servers();

// Asks one server one thing and waits for it: whether it answers at all. THREADS: any.
DnsAnswer ask_once(const std::string& server, const Question& question,
                   std::chrono::milliseconds timeout);

}  // namespace muster::relay
