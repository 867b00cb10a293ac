// What the implementation says about itself: lines in a FIFO.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include <muster/error.hpp>

#include "agent/event_loop.hpp"
#include "agent/lifecycle.hpp"

namespace muster::agent {

struct BusyReport {
  int tasks = 0;
};
struct FinishedReport {};
using Report = std::variant<BusyReport, ReportError, FinishedReport>;

// `busy 2`, `idle`, `error TITLE`, `error {"title": ...}`, `finished`. Fails as `invalid`.
Result<Report> parse_report(std::string_view line);

// Makes the FIFO, replacing an old one, and reads it while it lives. A line that is no report, or
// longer than 64 KiB, is handed to `mistaken` and nothing else happens.
class ReportPipe {
 public:
  static Result<std::unique_ptr<ReportPipe>> open(EventLoop& loop, std::filesystem::path file,
                                                  std::function<void(const Report&)> take,
                                                  std::function<void(const std::string&)> mistaken);
  ~ReportPipe();  // removes the FIFO
  ReportPipe(const ReportPipe&) = delete;
  ReportPipe& operator=(const ReportPipe&) = delete;

  // Takes what is in it by now.
  void drain();

 private:
  ReportPipe(EventLoop& loop, std::filesystem::path file, FileDescriptor pipe,
             std::function<void(const Report&)> take,
             std::function<void(const std::string&)> mistaken);

  EventLoop& loop_;
  const std::filesystem::path file_;
  const FileDescriptor pipe_;
  const std::function<void(const Report&)> take_;
  const std::function<void(const std::string&)> mistaken_;
  EventLoop::Id watch_ = 0;
  std::string pending_;
  bool too_long_ = false;
};

}  // namespace muster::agent
