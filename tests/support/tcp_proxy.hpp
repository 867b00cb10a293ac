// A TCP proxy on the loopback interface that can be cut, made slow, or made to swallow answers.
#pragma once

#include <atomic>
#include <chrono>
#include <list>
#include <mutex>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace muster::testing {

// THREADS: any.
class TcpProxy {
 public:
  explicit TcpProxy(int server_port) : server_port_(server_port) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::listen(listener_, 64) != 0)
      throw std::runtime_error("no port for a proxy");
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { accept_all(); });
  }
  ~TcpProxy() {
    stopping_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    cut_connections();
    for (std::thread& relay : relays_) relay.join();
    ::close(listener_);
  }
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  int port() const { return port_; }

  // New connections end at once, and those that are open are closed.
  void cut() {
    closed_ = true;
    cut_connections();
  }
  void reopen() { closed_ = false; }
  void delay(std::chrono::milliseconds time) { delay_ = time.count(); }
  // The next bytes of a client that contain this text reach the server; the answer does not come
  // back, and the connection ends.
  void swallow_answer_to(const std::string& text) {
    const std::lock_guard guard(mutex_);
    swallow_ = text;
  }
  int swallowed() const { return swallowed_; }

 private:
  static sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }

  void accept_all() {
    while (!stopping_) {
      const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) return;
      const int server = closed_ ? -1 : ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const sockaddr_in address = loopback(server_port_);
      if (server < 0 ||
          ::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        ::close(client);
        if (server >= 0) ::close(server);
        continue;
      }
      const std::lock_guard guard(mutex_);
      open_.push_back(client);
      open_.push_back(server);
      relays_.emplace_back([this, client, server] { relay(client, server); });
    }
  }

  bool wants_swallowed(const std::string& bytes) {
    const std::lock_guard guard(mutex_);
    if (swallow_.empty() || bytes.find(swallow_) == std::string::npos) return false;
    swallow_.clear();
    return true;
  }

  static bool send_all(int to, const std::string& bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const ssize_t sent = ::send(to, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) return false;
      at += static_cast<std::size_t>(sent);
    }
    return true;
  }

  void relay(int client, int server) {
    pollfd ends[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
    bool swallows = false;
    for (bool open = true; open && ::poll(ends, 2, -1) >= 0;)
      for (int i = 0; i < 2 && open; ++i) {
        if (ends[i].revents == 0) continue;
        char buffer[65536];
        const ssize_t got = ::recv(ends[i].fd, buffer, sizeof buffer, 0);
        if (got <= 0) {
          open = false;
          continue;
        }
        if (delay_ > 0) ::poll(nullptr, 0, static_cast<int>(delay_));
        const std::string bytes(buffer, static_cast<std::size_t>(got));
        if (i == 0 && wants_swallowed(bytes)) swallows = true;
        if (i == 1 && swallows) {
          ++swallowed_;
          open = false;
          continue;
        }
        open = send_all(ends[1 - i].fd, bytes);
      }
    const std::lock_guard guard(mutex_);
    open_.remove(client);
    open_.remove(server);
    ::close(client);
    ::close(server);
  }

  void cut_connections() {
    const std::lock_guard guard(mutex_);
    for (const int socket : open_) ::shutdown(socket, SHUT_RDWR);
  }

  const int server_port_;
  int listener_ = -1, port_ = 0;
  std::atomic<bool> stopping_ = false, closed_ = false;
  std::atomic<std::int64_t> delay_ = 0;
  std::atomic<int> swallowed_ = 0;
  std::mutex mutex_;
  std::string swallow_;
  std::list<int> open_;
  std::list<std::thread> relays_;
  std::thread thread_;
};

}  // namespace muster::testing
