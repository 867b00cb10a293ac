// Reads tables of a document key by key, and remembers what is wrong and what nobody asked for.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/toml/toml_document.hpp"

namespace muster::agent {

// One table. Every key that is read is known; the others are reported by `finish`.
class Settings {
 public:
  Settings(const config::TomlDocument& document, std::vector<config::Mistake>& mistakes)
      : Settings(document, mistakes, document.root, "") {}

  std::optional<std::string> text(std::string_view key);  // not empty
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least, std::int64_t most);
  std::optional<bool> truth(std::string_view key);
  std::optional<std::chrono::milliseconds> duration(std::string_view key);
  std::optional<std::vector<std::string>> words(std::string_view key);  // a command: at least one
  std::optional<std::vector<std::string>> names(std::string_view key);  // texts that are not empty
  // The table below the key; an empty one if there is none.
  Settings table(std::string_view key);
  bool has(std::string_view key) const;
  bool is_table(std::string_view key) const;
  bool is_array(std::string_view key) const;
  std::vector<std::string> keys() const;
  const json::value* raw(std::string_view key);  // known from now on

  void wrong(std::string_view key, std::string reason, std::string remedy = "");
  // Says that every key that was not read is unknown, with the nearest known one.
  void finish();

 private:
  Settings(const config::TomlDocument& document, std::vector<config::Mistake>& mistakes,
           const json::object& table, std::string pointer)
      : document_(document), mistakes_(mistakes), table_(table), pointer_(std::move(pointer)) {}

  const config::TomlDocument& document_;
  std::vector<config::Mistake>& mistakes_;
  const json::object& table_;
  std::string pointer_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace muster::agent
