// What every reader of nodes needs: report a problem at its place, refuse unknown keys, and expect
// types.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/rules/limits.hpp>
#include <muster/rules/node.hpp>
#include <muster/rules/problem.hpp>

namespace muster::rules {

class Reader {
 public:
  Reader(const std::string& file, const Limits& limits) : file_(file), limits_(limits) {}

  void error(Position at, std::string key, std::string reason, std::string remedy,
             std::string code);
  // A missing key; left out when the text was only partly readable.
  void missing(Position at, std::string key, std::string reason, std::string remedy);
  void wrong_type(const Node& node, const std::string& key, std::string_view wanted,
                  std::string remedy = {});
  void refuse_unknown_keys(const Node& table, const std::string& path,
                           const std::vector<std::string>& known);

  // The string of a node; nullptr and a problem if it is none.
  const json::string* expect_string(const Node& node, const std::string& key);

  // Sorted and cut at the limit.
  Problems take_problems();
  void add(Problems problems);
  void set_partial(bool partial) { partial_ = partial; }
  const Limits& limits() const { return limits_; }

 private:
  const std::string& file_;
  const Limits& limits_;
  Problems problems_;
  bool partial_ = false;
};

// `path.name`, with the name quoted if it must be; `path[index]`.
std::string join_key(const std::string& path, std::string_view name);
std::string join_index(const std::string& path, std::size_t index);

}  // namespace muster::rules
