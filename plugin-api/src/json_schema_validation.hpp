// One validation of one instance: a walk over the program's nodes and the instance together.
// json_schema_validate.cpp has what concerns any value, json_schema_containers.cpp arrays and
// objects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json_schema_program.hpp"
#include "json_schema_value.hpp"

namespace muster::json::schema_detail {

inline constexpr std::size_t max_violations = 50;
inline constexpr int max_depth = 300;         // nodes below each other, so that the stack suffices
inline constexpr long max_steps = 2'000'000;  // nodes visited, so that no schema runs for minutes

// A way into the instance, kept on the stack and written only for a violation.
struct Where {
  const Where* up = nullptr;
  std::string_view key;
  std::size_t index = 0;
  bool is_index = false;

  std::string pointer() const {
    if (!up) return "";
    return up->pointer() + "/" + (is_index ? std::to_string(index) : pointer_escaped(key));
  }
};

// Which members or items of one instance some subschema has looked at.
using Evaluated = std::vector<bool>;

class Validation {
 public:
  explicit Validation(const Program& program) : program_(program) {}

  std::vector<Violation> run(const value& instance) {
    std::vector<Violation> found;
    const bool valid = check(*program_.nodes.front(), instance, {}, nullptr, &found);
    if (!gave_up_.empty()) return {{"", gave_up_, program_.nodes.front()->path}};
    if (valid) found.clear();
    return found;
  }

 private:
  using Sink = std::vector<Violation>*;  // null: only the answer matters, the first failure ends it

  // One node against one instance; the parts that stand below share it.
  struct Frame {
    const Node& node;
    const value& instance;
    const Where& where;
    Evaluated* seen;  // null: nobody asks
    Sink sink;
    bool valid = true;

    bool done() const { return !valid && !sink; }
    void fail(std::string_view keyword, const std::string& message) {
      fail_at(where, keyword, message);
    }
    void fail_at(const Where& place, std::string_view keyword, const std::string& message) {
      valid = false;
      if (sink && sink->size() < max_violations)
        sink->push_back({place.pointer(), message,
                         node.path + (keyword.empty() ? "" : "/") + std::string(keyword)});
    }
    void require(bool good) { valid = valid && good; }
    void mark(std::size_t i) {
      if (seen) (*seen)[i] = true;
    }
  };

  bool check(const Node& node, const value& instance, const Where& where, Evaluated* seen,
             Sink sink);
  void check_all(Frame& frame);
  bool in_place(Frame& frame, const Node& node, Sink sink);
  void check_refs(Frame& frame);
  void check_value(Frame& frame);
  void check_number(Frame& frame);
  void check_string(Frame& frame);
  void check_array(Frame& frame);
  void check_items(Frame& frame);
  void check_contains(Frame& frame);
  void check_unique(Frame& frame);
  void check_object(Frame& frame);
  void check_required(Frame& frame);
  void check_member(Frame& frame, std::size_t index, std::string_view key, const value& member);
  void unknown_key(Frame& frame, const Where& where, std::string_view key);
  void check_dependents(Frame& frame);
  void check_combinations(Frame& frame);
  void check_any_of(Frame& frame);
  void check_one_of(Frame& frame);
  void check_condition(Frame& frame);
  void check_unevaluated(Frame& frame);
  std::string closest_failure(Frame& frame, const Nodes& branches);

  const Program& program_;
  std::vector<int> scope_;  // resources entered, outermost first
  int depth_ = 0;
  long steps_ = 0;
  std::string gave_up_;
};

inline std::string_view view(const json::string& text) {
  return {text.data(), text.size()};
}

// A string as it stands in a message.
inline std::string in_quotes(std::string_view text) {
  return excerpt(value(text));
}

}  // namespace muster::json::schema_detail
