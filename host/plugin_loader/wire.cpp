#include "host/plugin_loader/wire.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

namespace muster::plugin_loader::wire {
namespace {

struct Header {
  std::uint32_t kind = 0;
  std::uint32_t size = 0;
  std::int64_t number = 0;
  std::int64_t second = 0;
};

bool wait_for(int socket, short events, Deadline deadline) {
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now())
            .count();
    pollfd entry{socket, events, 0};
    const int ready =
        ::poll(&entry, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000)));
    if (ready > 0) return true;
    if (ready == 0 && left <= 60'000) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

bool send_bytes(int socket, const char* bytes, std::size_t size, Deadline deadline) {
  while (size > 0) {
    const ssize_t count = ::send(socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      bytes += count;
      size -= static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      if (!wait_for(socket, POLLOUT, deadline)) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

Received receive_bytes(int socket, char* bytes, std::size_t size, Deadline deadline) {
  while (size > 0) {
    const ssize_t count = ::recv(socket, bytes, size, MSG_DONTWAIT);
    if (count > 0) {
      bytes += count;
      size -= static_cast<std::size_t>(count);
    } else if (count < 0 && errno == EAGAIN) {
      if (!wait_for(socket, POLLIN, deadline)) return Received::timed_out;
    } else if (count == 0 || errno != EINTR) {
      return Received::closed;
    }
  }
  return Received::frame;
}

}  // namespace

bool send(int socket, const Frame& frame, Deadline deadline) {
  const Header header{static_cast<std::uint32_t>(frame.kind),
                      static_cast<std::uint32_t>(frame.payload.size()), frame.number, frame.second};
  char bytes[sizeof header];
  std::memcpy(bytes, &header, sizeof header);
  if (frame.payload.size() > 64 * 1024)
    return send_bytes(socket, bytes, sizeof bytes, deadline) &&
           send_bytes(socket, frame.payload.data(), frame.payload.size(), deadline);
  std::string whole(bytes, sizeof bytes);  // one system call, one wake-up of the reader
  whole += frame.payload;
  return send_bytes(socket, whole.data(), whole.size(), deadline);
}

Received receive(int socket, Frame& frame, Deadline deadline, std::size_t max_payload) {
  Header header;
  char bytes[sizeof header];
  if (const auto got = receive_bytes(socket, bytes, sizeof bytes, deadline); got != Received::frame)
    return got;
  std::memcpy(&header, bytes, sizeof header);
  if (header.size > max_payload) return Received::closed;
  frame.kind = static_cast<Kind>(header.kind);
  frame.number = header.number;
  frame.second = header.second;
  frame.payload.resize(header.size);
  return receive_bytes(socket, frame.payload.data(), frame.payload.size(), deadline);
}

bool wait_readable(int socket, Deadline deadline) {
  return wait_for(socket, POLLIN, deadline);
}

}  // namespace muster::plugin_loader::wire
