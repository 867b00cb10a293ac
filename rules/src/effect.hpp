// What a rule does when it applies, whatever its name and conditions. Equal effects are one object,
// so that their address is their identity.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <muster/json.hpp>
#include <muster/rules/compiled.hpp>
#include <muster/rules/path.hpp>

namespace muster::rules {

struct Effect {
  std::vector<Path> unset;
  json::object values;

  bool empty() const { return unset.empty() && values.empty(); }
};

class EffectTable {
 public:
  std::shared_ptr<const Effect> intern(const Rule& rule);

 private:
  void sweep();
  std::unordered_map<std::string, std::weak_ptr<const Effect>, TextHash, std::equal_to<>> effects_;
  std::size_t sweep_at_ = 1024;
};

}  // namespace muster::rules
