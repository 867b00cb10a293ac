#include "reader.hpp"

#include <algorithm>

#include <muster/plural.hpp>
#include <muster/rules/path.hpp>

namespace muster::rules {

std::string join_key(const std::string& path, std::string_view name) {
  const std::string segment = format_path({std::string(name)});
  return path.empty() ? segment : path + "." + segment;
}

std::string join_index(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

void Reader::error(Position at, std::string key, std::string reason, std::string remedy,
                   std::string code) {
  problems_.push_back({Severity::error,
                       {file_, at},
                       std::move(key),
                       std::move(reason),
                       std::move(remedy),
                       std::move(code)});
}

void Reader::missing(Position at, std::string key, std::string reason, std::string remedy) {
  if (!partial_) error(at, std::move(key), std::move(reason), std::move(remedy), "missingKey");
}

void Reader::wrong_type(const Node& node, const std::string& key, std::string_view wanted,
                        std::string remedy) {
  error(node.value, key,
        "must be " + std::string(wanted) + ", but is " + std::string(describe_kind(node)),
        std::move(remedy), "wrongType");
}

void Reader::refuse_unknown_keys(const Node& table, const std::string& path,
                                 const std::vector<std::string>& known) {
  for (const Member& member : *table.table()) {
    if (std::find(known.begin(), known.end(), member.name) != known.end()) continue;
    const std::string nearest = nearest_name(member.name, known);
    std::string remedy;
    if (!nearest.empty()) {
      remedy = "did you mean " + nearest + "?";
    } else {
      remedy = "known keys are ";
      for (const std::string& name : known) remedy += (&name == &known.front() ? "" : ", ") + name;
    }
    error(member.node.key, join_key(path, member.name), "unknown key", std::move(remedy),
          "unknownKey");
  }
}

const json::string* Reader::expect_string(const Node& node, const std::string& key) {
  if (node.scalar() && node.scalar()->is_string()) return &node.scalar()->get_string();
  wrong_type(node, key, "a string");
  return nullptr;
}

void Reader::add(Problems problems) {
  problems_.insert(problems_.end(), std::make_move_iterator(problems.begin()),
                   std::make_move_iterator(problems.end()));
}

namespace {

// Parsers quote pieces of the text as they are, line ends included.
std::string on_one_line(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n')
      line += "\\n";
    else if (byte < 0x20 || byte == 0x7f)
      ((line += "\\u00") += digits[byte >> 4]) += digits[byte & 15];
    else
      line += c;
  }
  return line;
}

}  // namespace

Problems Reader::take_problems() {
  for (Problem& problem : problems_) problem.reason = on_one_line(problem.reason);
  sort_problems(problems_);
  if (problems_.size() > limits_.max_problems) {
    const std::size_t more = problems_.size() - limits_.max_problems;
    problems_.resize(limits_.max_problems);
    error({}, "", count_of(more, "more problem is", "more problems are") + " not shown",
          "correct these first", "tooManyProblems");
  }
  return std::move(problems_);
}

}  // namespace muster::rules
