// The table of one cloud in worker configurations: its schema, and the launch documents that are
// made of it, one for each type and market.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <muster/json_schema.hpp>

#include "plugins/cloud/machines/machine.hpp"
#include "plugins/cloud/machines/user_data.hpp"

namespace muster::cloud {

// What muster sets itself in a cloud's own document, and what to write instead.
struct SetByMuster {
  const char* name;
  const char* instead;
};
// Makes the properties of a schema refuse these, with the words as the reason.
void refuse(json::object& properties, const std::vector<SetByMuster>& set_by_muster);

// The properties that all sections have: launch, the list of types, market, maxPrice and userData.
// `launch` is the schema of the cloud's own document; `type_pattern` is a regular expression.
json::object section_properties(const Words& words, json::object launch, const char* type_pattern);
// A table of texts, for tags and labels. Keys that begin with "muster-" are refused where `keys`,
// a regular expression, does so.
json::object texts_schema(const char* description, const char* keys, std::int64_t longest_value);
json::object price_schema(const char* description);

// What a machine is launched from is static, a change of it makes workers outdated; tags and
// maxPrice are behavioural.
FieldClasses field_classes_of(const Words& words);

struct SectionRules {
  Words words;
  UserDataLimits user_data = {};
  // Completes and checks the cloud's own document for one type in one placement. False: nothing is
  // launched there, because the section has no image for the region, say. `invalid` has the path.
  std::function<Result<bool>(json::object& launch, const json::object& section,
                             const Placement& placement)>
      complete;
  std::vector<const char*> kept = {};  // more keys of the section that launch documents keep
};

// THREADS: any; it does not change.
class SectionReader {
 public:
  // A schema that is none is a bug and throws.
  SectionReader(SectionRules rules, const json::object& schema);

  // Pure. `invalid` has the path in the section ("aws.launch.ImageId") and what to do.
  Result<Expansion> expand(const ExpandRequest& request) const;

 private:
  Result<void> add_type(const ExpandRequest& request, const json::object& section,
                        const json::object& entry, std::int64_t usual_capacity,
                        Expansion& expansion) const;

  const SectionRules rules_;
  const json::Schema schema_;
};

}  // namespace muster::cloud
