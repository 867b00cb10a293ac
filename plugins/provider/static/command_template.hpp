// A command of the configuration, with places for what differs from machine to machine.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <muster/error.hpp>

namespace muster::static_machines {

using Variables = std::map<std::string, std::string>;

// ["ipmitool", "-H", "{bmc}", "power", "on"]. `{{` and `}}` are braces. It is never seen by a
// shell: each text is one argument, whatever is filled in.
class CommandTemplate {
 public:
  CommandTemplate() = default;

  // Fails as `invalid` with a sentence that begins with the key and the index: "wakeCommand[1]:
  // ...".
  static Result<CommandTemplate> parse(const std::string& key,
                                       const std::vector<std::string>& texts);

  bool empty() const { return arguments_.empty(); }

  struct Place {
    std::string key;   // "wakeCommand[1]"
    std::string name;  // "mac"
  };
  const std::vector<Place>& places() const { return places_; }

  // `variables` has every name of places().
  std::vector<std::string> filled(const Variables& variables) const;

 private:
  struct Piece {
    std::string text;
    bool is_name = false;
  };
  std::vector<std::vector<Piece>> arguments_;
  std::vector<Place> places_;
};

// A letter, then letters, digits, `_` and `-`.
bool is_variable_name(std::string_view name);

}  // namespace muster::static_machines
