// A TCP client that sends whatever bytes a test likes, and never waits for more than ten seconds.
#pragma once

#include <arpa/inet.h>
#include <chrono>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/socket.h>

#include "lib/base/file_descriptor.hpp"

namespace muster::testing {

class RawClient {
 public:
  explicit RawClient(std::uint16_t port)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("cannot connect");
  }

  // False: the peer has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void finish_sending() { ::shutdown(socket_.get(), SHUT_WR); }

  // What came until `text` was seen `times` times, or until the end of the stream.
  std::string read_until(std::string_view text, int times = 1) {
    for (;;) {
      std::size_t at = 0;
      int seen = 0;
      for (; (at = received_.find(text, at)) != std::string::npos; at += text.size()) ++seen;
      if (seen >= times || !read_some()) return received_;
    }
  }
  // Everything up to the end of the stream.
  std::string read_all() {
    while (read_some()) {
    }
    return received_;
  }
  void forget() { received_.clear(); }
  int descriptor() const { return socket_.get(); }

 private:
  bool read_some() {
    pollfd waiting{socket_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, 10'000) <= 0) throw std::runtime_error("no answer in ten seconds");
    char part[4096];
    const ssize_t got = ::recv(socket_.get(), part, sizeof part, 0);
    if (got <= 0) return false;
    received_.append(part, static_cast<std::size_t>(got));
    return true;
  }

  FileDescriptor socket_;
  std::string received_;
};

}  // namespace muster::testing
