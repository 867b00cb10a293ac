// A worker configuration as text: what all places have in common in the first rules, what differs
// in rules with conditions.
#pragma once

#include <string>
#include <vector>

#include <muster/error.hpp>
#include <muster/json.hpp>

#include "cli/import/places.hpp"

namespace muster::importing {

struct ConfigurationParts {
  std::string worker_type = {};
  std::string provider_id = {};
  std::vector<std::string> comments = {};  // at the top, each a sentence or several
  json::object settings = {};              // of the pool
  std::vector<Place> places = {};          // at least one
};

// TOML. Fails as `invalid` for what TOML cannot say (null), and as `internal` if the text, read and
// evaluated again, does not come to the documents of the places.
Result<std::string> configuration_text(const Cloud& cloud, const ConfigurationParts& parts);

// What facts.toml says of these places.
std::string facts_text(const Cloud& cloud, const std::string& provider_id,
                       const std::vector<Place>& places);

}  // namespace muster::importing
