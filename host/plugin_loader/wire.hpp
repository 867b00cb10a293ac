// Frames between the host and a cell, over a socket pair.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster::plugin_loader::wire {

using Deadline = std::chrono::steady_clock::time_point;

enum class Kind : std::uint32_t {
  // host to cell
  start = 1,   // payload: StartRequest as JSON
  call = 2,    // number: budget in ms, second: the host's time; payload: method, newline, request
  cancel = 3,  // the running call
  stop = 4,    // destroy the instance and leave
  // cell to host
  ready = 16,   // payload: StartReply as JSON
  failed = 17,  // number: muster_status; payload: the failure
  reply = 18,   // number: muster_status, second: Incident; payload: the answer or the failure
  log = 19,     // number: level; payload: the line
};

struct Frame {
  Kind kind{};
  std::int64_t number = 0;
  std::int64_t second = 0;
  std::string payload = {};
};

// Where the cell finds its socket.
inline constexpr int cell_socket = 3;

enum class Received { frame, timed_out, closed };

// False: the other side is gone, or did not take it by the deadline. Never raises SIGPIPE. THREADS:
// one sender at a time.
bool send(int socket, const Frame& frame, Deadline deadline);

// `closed` also for a frame that no honest peer sends (larger than `max_payload`). A time-out in
// the middle of a frame leaves the stream unusable. THREADS: one receiver at a time.
Received receive(int socket, Frame& frame, Deadline deadline, std::size_t max_payload);

// Whether there is something to receive by then (also: the peer is gone).
bool wait_readable(int socket, Deadline deadline);

}  // namespace muster::plugin_loader::wire
