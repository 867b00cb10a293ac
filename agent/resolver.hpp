// Names to addresses, without making the loop wait.
#pragma once

#include <functional>
#include <memory>
#include <netdb.h>
#include <string>
#include <sys/socket.h>
#include <vector>

#include <muster/error.hpp>

#include "agent/event_loop.hpp"

namespace muster::agent {

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

// One lookup. Destroying it means that nobody wants to know any more; the thread that asks the
// system's resolver, which cannot be interrupted, then ends on its own.
class Lookup {
 public:
  using Done = std::function<void(Result<std::vector<Address>>)>;
  Lookup(EventLoop& loop, const std::string& host, std::uint16_t port, Done done);
  ~Lookup();
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

 private:
  struct Shared;
  EventLoop& loop_;
  EventLoop::Id watch_ = 0;
  std::shared_ptr<Shared> shared_;
};

}  // namespace muster::agent
