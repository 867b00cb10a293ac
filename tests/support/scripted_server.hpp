// An HTTP server on a port of its own whose answers a test writes byte by byte.
#pragma once

#include <arpa/inet.h>
#include <atomic>
#include <functional>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <vector>

#include "lib/base/file_descriptor.hpp"

namespace muster::testing {

// One thread; one connection after the other, each with one request.
class ScriptedServer {
 public:
  // Gets the whole request and says what is sent before the connection is closed. `hold` instead of
  // an answer: nothing is sent, and the connection stays open until the server ends.
  static constexpr const char* hold = "(hold)";
  using Answer = std::function<std::string(const std::string& request)>;

  explicit ScriptedServer(Answer answer)
      : answer_(std::move(answer)),
        listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        stop_(::eventfd(0, EFD_CLOEXEC)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listener_.get(), 64) != 0 ||
        ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::runtime_error("cannot listen");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~ScriptedServer() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
    thread_.join();
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  std::uint16_t port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::vector<std::string> requests() const {
    const std::lock_guard guard(mutex_);
    return requests_;
  }

  static std::string ok(const std::string& body, const std::string& headers = "") {
    return with_status("200 OK", body, headers);
  }
  static std::string with_status(const std::string& status, const std::string& body,
                                 const std::string& headers = "") {
    return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
           headers + "\r\n" + body;
  }

 private:
  bool readable(int descriptor) const {
    pollfd waiting[2]{{descriptor, POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    while (::poll(waiting, 2, -1) < 0) {
    }
    return waiting[1].revents == 0;
  }

  void serve() {
    std::vector<FileDescriptor> held;
    while (readable(listener_.get())) {
      FileDescriptor connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      const std::string request = read_request(connection.get());
      std::string answer;
      {
        const std::lock_guard guard(mutex_);
        requests_.push_back(request);
      }
      answer = answer_(request);
      if (answer == hold) {
        held.push_back(std::move(connection));
        continue;
      }
      std::string_view rest = answer;
      while (!rest.empty()) {
        const ssize_t sent = ::send(connection.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
        if (sent <= 0) break;
        rest.remove_prefix(static_cast<std::size_t>(sent));
      }
    }
  }

  std::string read_request(int connection) const {
    std::string text;
    char part[4096];
    while (!complete(text) && readable(connection)) {
      const ssize_t got = ::recv(connection, part, sizeof part, 0);
      if (got <= 0) break;
      text.append(part, static_cast<std::size_t>(got));
    }
    return text;
  }

  static bool complete(const std::string& text) {
    const auto end = text.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    const auto length = text.find("Content-Length: ");
    const std::size_t body = length < end ? std::stoul(text.substr(length + 16)) : 0;
    return text.size() >= end + 4 + body;
  }

  const Answer answer_;
  FileDescriptor listener_, stop_;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace muster::testing
