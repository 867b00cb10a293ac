// How a log entry becomes a line: pure functions of values.
#pragma once

#include <string>
#include <string_view>

#include "lib/base/log.hpp"

namespace muster {

struct LogEntry {
  Time time;
  LogLevel level;
  std::string_view message;
  LogFields fields;
};

// {"time":"...","level":"info","message":"...","plugin":"ec2"}. A field that bears one of the three
// first names gets an underscore behind it; of fields with the same name the last one counts.
std::string json_line(const LogEntry& entry);

// Values that are not plain words are quoted as JSON strings, so a line stays one line.
std::string text_line(const LogEntry& entry);

// Whether a field with this name is shown as "(hidden)" whatever it holds: it contains "token",
// "secret", "password", "authorization", "credential" or "privateKey" in any spelling. Names of
// files that hold one (tokenFile) are shown.
bool names_a_secret(std::string_view field);

}  // namespace muster
