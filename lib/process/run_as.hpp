// The user that a child process becomes.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include <muster/error.hpp>

namespace muster {

struct RunAs {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name = {};  // empty: the machine has none for the number

  bool operator==(const RunAs&) const = default;
};

// The machine's users, as tests replace them.
using FindUser = std::function<std::optional<RunAs>(const std::string& name)>;
std::optional<RunAs> user_of_this_machine(const std::string& name);

// "name", "uid" or "uid:gid". Fails as `invalid` if there is no such user.
Result<RunAs> parse_user(const std::string& text, const FindUser& find = user_of_this_machine);

// Whether this process could become the user: in a user namespace only users that are mapped exist.
bool is_mapped(uid_t uid, std::string_view uid_map);

// As whom workers run that somebody else configures. Nothing: as the caller itself, who is not
// root or, in a user namespace without further users, root of nothing but that. `configured` is
// what the operator says; without it root's workers become `muster-worker`, if the machine has
// that user, else `nobody`. Root only if it is configured. Pure but for `find`.
struct OwnUser {
  uid_t uid = 0;
  std::string uid_map = {};  // /proc/self/uid_map
};
OwnUser own_user();
Result<std::optional<RunAs>> choose_worker_user(const std::optional<std::string>& configured,
                                                const OwnUser& own,
                                                const FindUser& find = user_of_this_machine);

// In a child before it executes its program: drops all groups, then the user. Calls only what is
// safe there. 0 or errno.
int become_user(uid_t uid, gid_t gid);

// Why the user cannot reach the folder: "/root (mode 0700) does not let the user nobody through".
// Nothing: it can.
std::optional<std::string> obstacle_on_the_way(const RunAs& user, const std::string& folder);

}  // namespace muster
