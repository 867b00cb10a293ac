// The forms of identifiers, in one place for both APIs, for registrations, for what plugins and
// relays name, and for rows that come back from the store. Identifiers become parts of scopes,
// paths, keys and labels. Matched by hand in linear time.
//
// Pure functions. THREADS: any.
#pragma once

#include <string_view>

namespace muster::identifiers {

struct Pattern {
  std::string_view text;  // "/^[0-9]+$/": as Taskcluster's clients see it in an error
  bool (*matches)(std::string_view);
  std::string_view words = {};  // "a number": after "must be", for our own clients
};

// 1 to 38 letters, digits, - and _: a worker group, a worker, a provider, a launch configuration, a
// team, a webhook, a provisioner.
bool is_name(std::string_view text);
bool is_worker_type(std::string_view text);
// "provisioner/worker-type"
bool is_worker_pool_id(std::string_view text);
bool is_client_id(std::string_view text);
// "provider/local"
bool is_plugin_id(std::string_view text);
// 1 to 18 digits: fits 64 bits.
bool is_number(std::string_view text);
// At most 4096 bytes of UTF-8 without control characters.
bool is_text(std::string_view text);

extern const Pattern worker_pool_id, worker_type, name, launch_config_id, client_id, plugin_id,
    number, text;

// The form of the parameter of that name in a path of either API; null if there is none.
const Pattern* pattern_of(std::string_view parameter);

}  // namespace muster::identifiers
