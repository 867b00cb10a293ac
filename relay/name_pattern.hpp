// Patterns of host names: `*` stands for any run of characters of one label, `**` for any run with
// its dots, `?` for one character of a label, `[a-z0-9]` for one of a class and `[!a-z]` for one
// that is not in it. The whole name must fit, whatever the case of its letters.
//
// `*` stops at dots because a worker is called by its name's first label: who may name machines
// under guests.dc1.example.com must not be able to name one like a machine of dc1.example.com.
#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>

namespace muster::relay {

// A value; const functions are thread-safe.
class NamePattern {
 public:
  // Fails as `invalid` with a sentence that says what is wrong.
  static Result<NamePattern> parse(std::string_view pattern);

  // `name` as host_name() gives it. Time is bounded by the product of both lengths.
  bool matches(std::string_view name) const;
  // There is no label that it says in full: it fits nearly every name.
  bool matches_nearly_all() const;
  const std::string& text() const { return text_; }

 private:
  struct Part {
    enum class Kind { one_of, any_of_label, any } kind;
    std::bitset<128> characters = {};
  };
  std::string text_;
  std::vector<Part> parts_;
};

}  // namespace muster::relay
