#include "host/taskcluster_api/pattern.hpp"

#include <algorithm>

namespace muster::taskcluster_api {
namespace {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_small(char c) {
  return c >= 'a' && c <= 'z';
}
constexpr bool is_word(char c) {
  return is_digit(c) || is_small(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

bool has_a_letter(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return c != '\n' && c != '\r'; });
}

bool is_flag(std::string_view text) {
  return text == "true" || text == "false";
}

bool is_launched_state(std::string_view text) {
  return text == "requested" || text == "running" || text == "stopping" || text == "stopped";
}

bool is_worker_state(std::string_view text) {
  return is_launched_state(text) || text == "standalone";
}

bool is_error_id(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_word);
}

bool is_some_worker_pool(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return is_word(c) || c == '/'; });
}

}  // namespace

const Pattern number_pattern{"/^[0-9]+$/", is_number};
const Pattern anything_pattern{"/./", has_a_letter};
const Pattern flag_pattern{"/^(true|false)$/", is_flag};
const Pattern worker_state_pattern{"/^(requested|running|stopping|stopped|standalone)$/",
                                   is_worker_state};
const Pattern launched_state_pattern{"/^(requested|running|stopping|stopped)$/", is_launched_state};
const Pattern error_id_pattern{"/^[a-zA-Z0-9-_]+$/", is_error_id};
const Pattern some_worker_pool_pattern{R"(/^([a-zA-Z0-9\/_-]+)?$/)", is_some_worker_pool};

}  // namespace muster::taskcluster_api
