// muster's tags as labels, and its keys as names: Google's labels take small letters, digits, `-`
// and `_` only, and each machine of a bulkInsert differs from the others by its name alone. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <muster/launch_types.hpp>

namespace muster::google {

using Labels = std::map<std::string, std::string>;

// "worker-manager/build" → "worker-manager_2fbuild". What does not fit into one label is in
// several: muster-pool, muster-pool-2. Names are written likewise.
Labels labels_of(const std::map<std::string, std::string>& tags);
// The tags of such labels. Labels of a team, which may be anything, are as they are unless they
// look like ours.
std::map<std::string, std::string> tags_in(const Labels& labels);
// What the first label of a tag says: what a list is filtered by.
std::string label_value(std::string_view text);

// The name of the machine for that key, the same each time: at most 63 letters, and one that no
// other host or provider of the project makes. `has_key`: the key is the host's id, of which Google
// takes no capitals in names, and what the name has of it; otherwise it needs a label of its own.
struct MachineName {
  std::string text;
  bool has_key = false;
};
MachineName name_of(const Owner& owner, const IdempotencyKey& key);
// The key of a name that has it.
std::optional<IdempotencyKey> key_in(std::string_view name, const std::string& host_id);

// A UUID that is a function of the text, for requestId.
std::string request_id(std::string_view text);

}  // namespace muster::google
