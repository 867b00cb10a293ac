// Where a walk through nested values stands, kept on the stack and made a string only for a
// message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <muster/rules/path.hpp>

namespace muster::rules {

struct KeyPath {
  const KeyPath* above = nullptr;
  std::string_view name;  // of a member; of the root: what stands before everything
  std::size_t index = 0;  // of an array's item
  enum class Step { root, member, item } step = Step::root;

  KeyPath() = default;
  explicit KeyPath(std::string_view beginning) : name(beginning) {}
  KeyPath(const KeyPath& parent, std::string_view member)
      : above(&parent), name(member), step(Step::member) {}
  KeyPath(const KeyPath& parent, std::size_t item)
      : above(&parent), index(item), step(Step::item) {}
  // A copy would outlive what it points to.
  KeyPath(const KeyPath&) = delete;
  KeyPath& operator=(const KeyPath&) = delete;

  std::string text() const {
    if (step == Step::root) return std::string(name);
    std::string path = above->text();
    if (step == Step::item) return path + "[" + std::to_string(index) + "]";
    const std::string segment = format_path({std::string(name)});
    return path.empty() ? segment : path + "." + segment;
  }
};

}  // namespace muster::rules
