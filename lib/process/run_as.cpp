#include "lib/process/run_as.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <grp.h>
#include <iterator>
#include <pwd.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace muster {
namespace {

// Numbers from 2^32 - 1 on mean "nobody in particular" to the kernel.
std::optional<uid_t> number_in(std::string_view text) {
  uid_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == static_cast<uid_t>(-1))
    return std::nullopt;
  return number;
}

std::optional<RunAs> user_with(uid_t uid) {
  std::vector<char> space(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, space.data(), space.size(), &found) != 0 || !found)
    return std::nullopt;
  return RunAs{found->pw_uid, found->pw_gid, found->pw_name};
}

Error root_refused() {
  return Error::invalid(
      "workers do not run as root unless the configuration says so: name another user, or make the "
      "user muster-worker (useradd --system muster-worker)");
}

}  // namespace

std::optional<RunAs> user_of_this_machine(const std::string& name) {
  if (const auto uid = number_in(name)) return user_with(*uid);
  std::vector<char> space(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwnam_r(name.c_str(), &entry, space.data(), space.size(), &found) != 0 || !found)
    return std::nullopt;
  return RunAs{found->pw_uid, found->pw_gid, found->pw_name};
}

Result<RunAs> parse_user(const std::string& text, const FindUser& find) {
  const auto colon = text.find(':');
  if (colon != std::string::npos) {
    const auto uid = number_in(std::string_view(text).substr(0, colon));
    const auto gid = number_in(std::string_view(text).substr(colon + 1));
    if (!uid || !gid) return Error::invalid("\"" + text + "\" is not uid:gid, two numbers");
    const auto known = find(std::to_string(*uid));
    return RunAs{*uid, *gid, known ? known->name : std::string()};
  }
  if (const auto known = text.empty() ? std::nullopt : find(text)) return *known;
  return Error::invalid("this machine has no user \"" + text +
                        "\"; name another, or write uid:gid");
}

bool is_mapped(uid_t uid, std::string_view uid_map) {
  std::istringstream lines{std::string(uid_map)};
  std::uint64_t first = 0, outside = 0, count = 0;
  while (lines >> first >> outside >> count)
    if (uid >= first && uid - first < count) return true;
  return false;
}

OwnUser own_user() {
  std::ifstream file("/proc/self/uid_map");
  return {::geteuid(), {std::istreambuf_iterator<char>(file), {}}};
}

Result<std::optional<RunAs>> choose_worker_user(const std::optional<std::string>& configured,
                                                const OwnUser& own, const FindUser& find) {
  using Chosen = std::optional<RunAs>;
  if (configured) {
    const auto user = parse_user(*configured, find);
    if (!user) return user.error();
    if (user->uid == own.uid && own.uid != 0) return Chosen();
    if (own.uid != 0)
      return Error::invalid("only a host that runs as root can run workers as another user (\"" +
                            *configured + "\")");
    if (!is_mapped(user->uid, own.uid_map))
      return Error::invalid("the user namespace of this host has no user " +
                            std::to_string(user->uid) + " (\"" + *configured + "\")");
    return Chosen(*user);
  }
  if (own.uid != 0) return Chosen();
  for (const char* name : {"muster-worker", "nobody"})
    if (auto user = find(name); user && user->uid != 0 && is_mapped(user->uid, own.uid_map))
      return user;
  constexpr uid_t by_custom = 65534;  // what nobody is everywhere
  if (is_mapped(by_custom, own.uid_map)) return Chosen(RunAs{by_custom, by_custom, ""});
  // If one user is all that this namespace has, root is that ordinary user outside of it.
  if (!is_mapped(1, own.uid_map)) return Chosen();
  return root_refused();
}

int become_user(uid_t uid, gid_t gid) {
  if (::setgroups(0, nullptr) != 0 || ::setresgid(gid, gid, gid) != 0 ||
      ::setresuid(uid, uid, uid) != 0)
    return errno;
  if (uid != 0 && ::setresuid(static_cast<uid_t>(-1), 0, static_cast<uid_t>(-1)) == 0) return EPERM;
  return 0;
}

std::optional<std::string> obstacle_on_the_way(const RunAs& user, const std::string& folder) {
  if (user.uid == 0) return std::nullopt;
  for (std::size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    const std::string part = folder.substr(0, end);
    struct stat about {};
    if (::stat(part.c_str(), &about) != 0) return std::nullopt;  // what is missing can be made
    const mode_t pass = about.st_uid == user.uid   ? S_IXUSR
                        : about.st_gid == user.gid ? S_IXGRP
                                                   : S_IXOTH;
    if ((about.st_mode & pass) == 0) {
      std::array<char, 8> mode{};
      std::snprintf(mode.data(), mode.size(), "%04o", about.st_mode & 07777U);
      return part + " (mode " + mode.data() + ") does not let the user " +
             (user.name.empty() ? std::to_string(user.uid) : user.name) + " through";
    }
    if (end == std::string::npos) return std::nullopt;
  }
}

}  // namespace muster
