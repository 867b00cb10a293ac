// Structured logs: a sentence for people, and fields for machines.
//
//   const Log log = root.with({{"plugin", "provider/ec2"}, {"instance", "ec2-us"}});
//   log.warning("the call took too long", {{"method", "list"}, {"milliseconds", 31'000}});
//
// On a terminal a line reads "2026-03-01T12:30:00.250Z warning the call took too long
// plugin=provider/ec2 ..."; otherwise it is one JSON object. What a field may not hold is written
// in log_line.hpp: fields that are named like secrets are hidden, control characters and bytes that
// are no UTF-8 cannot forge or break a line.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <muster/context.hpp>

#include "lib/base/clock.hpp"

namespace muster {

enum class LogFormat { text, json };

std::string_view to_string(LogLevel level);
std::optional<LogLevel> log_level_from(std::string_view name);

struct LogField {
  using Value = std::variant<std::string, std::int64_t, double, bool>;

  template <class T>
  LogField(std::string_view field, const T& content) : name(field), value(convert(content)) {}

  std::string name;
  Value value;

 private:
  template <class T>
  static Value convert(const T& content) {
    if constexpr (std::is_same_v<T, bool>)
      return content;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<std::int64_t>(content);
    else if constexpr (std::is_floating_point_v<T>)
      return static_cast<double>(content);
    else
      return std::string(content);
  }
};

using LogFields = std::vector<LogField>;

// Where finished lines go. THREADS: write() is called from any thread.
class LogOutput {
 public:
  virtual ~LogOutput() = default;
  virtual void write(LogLevel level, const std::string& line) = 0;
};

// spdlog's writer to standard error: whole lines, whatever threads write. A line that cannot be
// written (a full disk, a closed pipe) is lost, and nothing else happens.
std::shared_ptr<LogOutput> standard_error_output();

// `text` if standard error is a terminal, else `json`.
LogFormat format_for_standard_error();

// A handle, cheap to copy and to hold; all copies made from one root share level and format.
// A default-constructed one is silent. THREADS: any.
class Log {
 public:
  Log() = default;
  Log(std::shared_ptr<LogOutput> output, LogLevel level, LogFormat format,
      std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>());

  // A log whose lines all carry these fields, after those of this one.
  Log with(std::initializer_list<LogField> fields) const;

  void debug(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    write(LogLevel::debug, message, fields);
  }
  void info(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    write(LogLevel::info, message, fields);
  }
  void warning(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    write(LogLevel::warning, message, fields);
  }
  void error(std::string_view message, std::initializer_list<LogField> fields = {}) const {
    write(LogLevel::error, message, fields);
  }
  void write(LogLevel level, std::string_view message,
             std::initializer_list<LogField> fields = {}) const;

  bool enabled(LogLevel level) const;
  // For every log that shares this one's root.
  void set_level(LogLevel level) const;
  void set_format(LogFormat format) const;

 private:
  struct Root;
  std::shared_ptr<Root> root_;
  std::shared_ptr<const LogFields> context_;
};

}  // namespace muster
