#include "agent/reports.hpp"

#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <muster/json.hpp>
#include <muster/utf8.hpp>

#include "lib/base/atomic_file.hpp"

namespace muster::agent {
namespace {

constexpr std::size_t longest_line = 64 * 1024;
constexpr std::size_t longest_title = 200, longest_description = 10'000;
constexpr int most_tasks = 1'000'000;

Result<Report> parse_error_report(std::string_view rest) {
  ReportError error;
  if (!rest.starts_with('{')) {
    error.title = error.description = valid_utf8(rest);
  } else {
    const auto document = json::parse_object(rest);
    if (!document) return Error::invalid("its error is not JSON: " + document.error().message);
    const auto text = [&](const char* key, std::string& into) {
      const json::value* found = document->if_contains(key);
      if (found && found->is_string()) into = found->get_string();
    };
    text("title", error.title);
    text("kind", error.kind);
    error.description = error.title;
    text("description", error.description);
    const json::value* extra = document->if_contains("extra");
    if (extra && extra->is_object()) error.extra = json::write(*extra);
  }
  if (error.title.empty()) return Error::invalid("its error has no title");
  error.title.resize(std::min(error.title.size(), longest_title));
  error.description.resize(std::min(error.description.size(), longest_description));
  error.title = valid_utf8(error.title);
  error.description = valid_utf8(error.description);
  return Report(std::move(error));
}

}  // namespace

Result<Report> parse_report(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
  if (line == "idle") return Report(BusyReport{0});
  if (line == "finished") return Report(FinishedReport{});
  if (line.starts_with("busy ")) {
    const std::string_view number = line.substr(5);
    int tasks = -1;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), tasks);
    if (error == std::errc() && end == number.data() + number.size() && tasks >= 0 &&
        tasks <= most_tasks)
      return Report(BusyReport{tasks});
    return Error::invalid("busy needs a number of tasks");
  }
  if (line.starts_with("error ")) return parse_error_report(line.substr(6));
  return Error::invalid("it is none of busy N, idle, error and finished");
}

Result<std::unique_ptr<ReportPipe>> ReportPipe::open(
    EventLoop& loop, std::filesystem::path file, std::function<void(const Report&)> take,
    std::function<void(const std::string&)> mistaken) {
  ::unlink(file.c_str());
  if (::mkfifo(file.c_str(), 0600) != 0) return system_error("make", file, errno);
  // Open for writing, too: it then never ends when a writer goes.
  FileDescriptor pipe(::open(file.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!pipe) return system_error("open", file, errno);
  return std::unique_ptr<ReportPipe>(
      new ReportPipe(loop, std::move(file), std::move(pipe), std::move(take), std::move(mistaken)));
}

ReportPipe::ReportPipe(EventLoop& loop, std::filesystem::path file, FileDescriptor pipe,
                       std::function<void(const Report&)> take,
                       std::function<void(const std::string&)> mistaken)
    : loop_(loop),
      file_(std::move(file)),
      pipe_(std::move(pipe)),
      take_(std::move(take)),
      mistaken_(std::move(mistaken)) {
  watch_ = loop_.watch(pipe_.get(), POLLIN, [this](short) { drain(); });
}

ReportPipe::~ReportPipe() {
  loop_.remove(watch_);
  ::unlink(file_.c_str());
}

void ReportPipe::drain() {
  char part[4096];
  for (;;) {
    const ssize_t got = ::read(pipe_.get(), part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    pending_.append(part, static_cast<std::size_t>(got));
    std::size_t begin = 0;
    for (auto end = pending_.find('\n'); end != std::string::npos;
         begin = end + 1, end = pending_.find('\n', begin)) {
      const std::string_view line = std::string_view(pending_).substr(begin, end - begin);
      if (std::exchange(too_long_, false) || line.empty()) continue;
      if (const auto report = parse_report(line))
        take_(*report);
      else
        mistaken_(report.error().message);
    }
    pending_.erase(0, begin);
    if (pending_.size() > longest_line) {
      if (!too_long_) mistaken_("it is longer than 64 KiB");
      too_long_ = true;
      pending_.clear();
    }
  }
}

}  // namespace muster::agent
