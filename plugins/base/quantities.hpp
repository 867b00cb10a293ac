// Times and sizes as operators write them: "500ms", "30s", "5m", "1h"; "64KiB", "512MiB", "2GiB".
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

namespace muster {

// Nothing if the text is no such quantity, or more than anybody can mean. Pure.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);
std::optional<std::int64_t> parse_bytes(std::string_view text);

}  // namespace muster
