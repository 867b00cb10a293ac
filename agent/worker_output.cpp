#include "agent/worker_output.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <muster/utf8.hpp>

namespace muster::agent {

WorkerOutput::WorkerOutput(EventLoop& loop) : loop_(loop) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  read_end_ = FileDescriptor(ends[0]);
  write_end_ = FileDescriptor(ends[1]);
  ::fcntl(read_end_.get(), F_SETFL, O_NONBLOCK);
  watch_ = loop_.watch(read_end_.get(), POLLIN, [this](short) { drain(); });
}

WorkerOutput::~WorkerOutput() {
  loop_.remove(watch_);
}

void WorkerOutput::drain() {
  char part[4096];
  for (int reads = 0; reads < 64; ++reads) {  // a worker that prints without end stops nothing else
    const ssize_t got = ::read(read_end_.get(), part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    const std::string_view bytes(part, static_cast<std::size_t>(got));
    pass_on(bytes);
    kept_ += bytes;
    read_ += got;
    if (kept_.size() > most_bytes) kept_.erase(0, kept_.size() - most_bytes);
  }
}

// Nobody may read the agent's output; then the agent does not wait, and this is left out.
void WorkerOutput::pass_on(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    if (::poll(&output, 1, 0) <= 0 || (output.revents & POLLOUT) == 0) return;
    const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

WorkerOutput::Part WorkerOutput::take() {
  // A character at the end may not be whole yet: at most three of its bytes wait for the next time.
  std::size_t end = kept_.size();
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, kept_.size()); ++back) {
    const auto byte = static_cast<unsigned char>(kept_[kept_.size() - back]);
    if ((byte & 0xC0U) == 0x80U) continue;
    const bool is_lead = byte >= 0xC2U && byte <= 0xF4U;
    const std::size_t needs = !is_lead ? 1 : byte >= 0xF0U ? 4 : byte >= 0xE0U ? 3 : 2;
    if (needs > back) end = kept_.size() - back;
    break;
  }
  const std::int64_t from = read_ - static_cast<std::int64_t>(kept_.size());
  Part part{from, from + static_cast<std::int64_t>(end), valid_utf8(kept_.substr(0, end))};
  kept_.erase(0, end);
  // Bytes that are no text take more room as characters.
  if (part.text.size() > most_bytes)
    part.text = valid_utf8(part.text.substr(part.text.size() - most_bytes + 4));
  return part;
}

}  // namespace muster::agent
