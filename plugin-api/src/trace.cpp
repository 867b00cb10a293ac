#include <muster/trace.hpp>

namespace muster {
namespace {

constexpr std::string_view member = "{\"traceparent\":\"";
constexpr std::size_t size_of_trace_parent = 55;

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

}  // namespace

std::string trace_parent_of(const Context& context) {
  const auto* traced = dynamic_cast<const TracedContext*>(&context);
  return traced ? traced->trace_parent() : std::string();
}

bool is_trace_parent(std::string_view text) {
  if (text.size() != size_of_trace_parent || !text.starts_with("00-")) return false;
  for (std::size_t at = 0; at < text.size(); ++at)
    if (at == 2 || at == 35 || at == 52 ? text[at] != '-' : !is_hex(text[at])) return false;
  const auto is_zero = [](std::string_view part) {
    return part.find_first_not_of('0') == std::string_view::npos;
  };
  return !is_zero(text.substr(3, 32)) && !is_zero(text.substr(36, 16));
}

std::string with_trace(std::string request, const std::string& trace_parent) {
  if (trace_parent.empty() || !request.starts_with('{')) return request;
  const bool is_empty = request == "{}";
  return std::string(member) + trace_parent + (is_empty ? "\"}" : "\"," + request.substr(1));
}

std::string_view trace_in(std::string_view request) {
  if (!request.starts_with(member)) return {};
  const std::string_view text = request.substr(member.size(), size_of_trace_parent);
  return is_trace_parent(text) ? text : std::string_view();
}

}  // namespace muster
