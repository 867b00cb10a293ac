#include "lib/http/port_owner.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace muster::http {
namespace fs = std::filesystem;
namespace {

// The inodes of the sockets that listen on the port. Lines of /proc/net/tcp read
// "0: 0100007F:2198 00000000:0000 0A 00000000:00000000 00:00000000 00000000 1000 0 12345 ...".
void add_listeners(const char* table, std::uint16_t port, std::set<std::string>& inodes) {
  std::ifstream in(table);
  std::string line;
  std::getline(in, line);  // the heading
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string number, local, remote, state, queues, timer, retransmits, user, timeout, inode;
    words >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user >>
        timeout >> inode;
    const auto colon = local.rfind(':');
    if (state != "0A" || colon == std::string::npos) continue;
    if (std::stoul(local.substr(colon + 1), nullptr, 16) == port)
      inodes.insert("socket:[" + inode + "]");
  }
}

bool has_one_of(const fs::path& process, const std::set<std::string>& sockets) {
  std::error_code error;
  auto entry = fs::directory_iterator(process / "fd", error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code unreadable;
    if (sockets.count(fs::read_symlink(entry->path(), unreadable).string())) return true;
  }
  return false;
}

}  // namespace

std::string owner_of_port(std::uint16_t port) {
  std::set<std::string> sockets;
  add_listeners("/proc/net/tcp", port, sockets);
  add_listeners("/proc/net/tcp6", port, sockets);
  std::error_code error;
  auto process = fs::directory_iterator("/proc", error);
  for (; !error && process != fs::directory_iterator(); process.increment(error)) {
    const std::string pid = process->path().filename().string();
    const bool is_pid =
        std::all_of(pid.begin(), pid.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    if (!is_pid || !has_one_of(process->path(), sockets)) continue;
    std::string name;
    std::ifstream comm(process->path() / "comm");
    std::getline(comm, name);
    return "pid " + pid + " (" + name + ")";
  }
  return "another process";
}

}  // namespace muster::http
