// The trace that a call of a plugin is part of, as W3C's header `traceparent` has it.
#pragma once

#include <string>
#include <string_view>

#include <muster/context.hpp>

namespace muster {

// What a plugin sends as the header `traceparent` with requests of its own; empty: the call is part
// of no trace.
std::string trace_parent_of(const Context& context);

// "00-<32 hex digits>-<16 hex digits>-<2 hex digits>", neither of the first two all zeros.
bool is_trace_parent(std::string_view text);

// A context that is part of a trace. The other context is borrowed. A text that is no
// `traceparent` counts as none.
class TracedContext final : public Context {
 public:
  TracedContext(const Context& context, std::string_view trace_parent)
      : context_(context), trace_parent_(is_trace_parent(trace_parent) ? trace_parent : "") {}

  bool cancelled() const noexcept override { return context_.cancelled(); }
  std::chrono::milliseconds time_left() const noexcept override { return context_.time_left(); }
  Time now() const noexcept override { return context_.now(); }
  void log(LogLevel level, std::string_view line) const noexcept override {
    context_.log(level, line);
  }
  const std::string& trace_parent() const { return trace_parent_; }

 private:
  const Context& context_;
  const std::string trace_parent_;
};

// The trace crosses the boundary as the first member of a request, which is a JSON object. Plugins
// that were built before it ignore the member, as all that they do not know.
std::string with_trace(std::string request, const std::string& trace_parent);
std::string_view trace_in(std::string_view request);  // empty: none

}  // namespace muster
