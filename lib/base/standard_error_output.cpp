// Apart from log.cpp, so that programs with an output of their own need no spdlog.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "lib/base/log.hpp"

namespace muster {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      break;
  }
  return spdlog::level::off;
}

// The line is finished when it comes here, so the pattern is the bare message.
class SpdlogOutput final : public LogOutput {
 public:
  SpdlogOutput() : logger_("muster", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger_.set_pattern("%v");
    logger_.set_level(spdlog::level::trace);
    logger_.flush_on(spdlog::level::trace);                // stderr is unbuffered anyway
    logger_.set_error_handler([](const std::string&) {});  // a full disk must not stop the host
  }

  void write(LogLevel level, const std::string& line) override {
    logger_.log(spdlog_level(level), spdlog::string_view_t(line.data(), line.size()));
  }

 private:
  spdlog::logger logger_;
};

}  // namespace

std::shared_ptr<LogOutput> standard_error_output() {
  return std::make_shared<SpdlogOutput>();
}

}  // namespace muster
