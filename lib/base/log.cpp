#include "lib/base/log.hpp"

#include <array>
#include <atomic>
#include <unistd.h>

#include "lib/base/log_line.hpp"

namespace muster {
namespace {

constexpr std::array<std::string_view, 5> level_names{"debug", "info", "warning", "error", "off"};

}  // namespace

std::string_view to_string(LogLevel level) {
  return level_names.at(static_cast<std::size_t>(level));
}

std::optional<LogLevel> log_level_from(std::string_view name) {
  for (std::size_t i = 0; i < level_names.size(); ++i)
    if (level_names[i] == name) return static_cast<LogLevel>(i);
  return std::nullopt;
}

LogFormat format_for_standard_error() {
  return ::isatty(STDERR_FILENO) ? LogFormat::text : LogFormat::json;
}

struct Log::Root {
  std::shared_ptr<LogOutput> output;
  std::atomic<LogLevel> level;
  std::atomic<LogFormat> format;
  std::shared_ptr<const Clock> clock;
};

Log::Log(std::shared_ptr<LogOutput> output, LogLevel level, LogFormat format,
         std::shared_ptr<const Clock> clock)
    : root_(new Root{std::move(output), level, format, std::move(clock)}) {}

Log Log::with(std::initializer_list<LogField> fields) const {
  Log child = *this;
  LogFields all = context_ ? *context_ : LogFields{};
  all.insert(all.end(), fields);
  child.context_ = std::make_shared<const LogFields>(std::move(all));
  return child;
}

void Log::write(LogLevel level, std::string_view message,
                std::initializer_list<LogField> fields) const {
  if (!enabled(level)) return;
  LogEntry entry{root_->clock->now(), level, message, context_ ? *context_ : LogFields{}};
  entry.fields.insert(entry.fields.end(), fields);
  root_->output->write(level,
                       root_->format == LogFormat::json ? json_line(entry) : text_line(entry));
}

bool Log::enabled(LogLevel level) const {
  return root_ && level >= root_->level && level != LogLevel::off;
}

void Log::set_level(LogLevel level) const {
  if (root_) root_->level = level;
}

void Log::set_format(LogFormat format) const {
  if (root_) root_->format = format;
}

}  // namespace muster
