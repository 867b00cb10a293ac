// Which events somebody wants to hear of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/events/model/event.hpp"

namespace muster::events {

// Every field that is not empty must fit; of the kinds, one.
struct Filter {
  std::vector<std::string> kinds = {};  // "worker-running", "worker-*"
  std::string worker_pool_id = {}, provider_id = {}, launch_config_id = {}, worker_id = {};

  bool passes_all() const;
  bool passes(const Event& event) const;
  friend bool operator==(const Filter&, const Filter&) = default;
};

// Letters, digits and dashes, and perhaps a * at the end.
bool is_kind_pattern(std::string_view text);

}  // namespace muster::events
