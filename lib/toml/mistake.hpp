// One thing that is wrong with a configuration, told so that it can be corrected without asking.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster::config {

struct Position {
  std::uint32_t line = 1, column = 1;
  friend auto operator<=>(const Position&, const Position&) = default;
};

enum class Severity { error, warning };

struct Mistake {
  Severity severity = Severity::error;
  Position position;
  std::string key;     // "providers.ec2-us.isolation"; empty: the whole file
  std::string reason;  // what is there and why that is wrong
  std::string remedy;  // what to write or do instead; may be empty

  friend bool operator==(const Mistake&, const Mistake&) = default;
};

// `muster.toml:12:3: error: providers.ec2.isolation: "proces" is none of ...; did you mean
// "process"?`
std::string to_string(const Mistake& mistake, const std::string& file);

bool has_errors(const std::vector<Mistake>& mistakes);

// In the order of the file; what was found twice is told once.
void sort_mistakes(std::vector<Mistake>& mistakes);

}  // namespace muster::config
