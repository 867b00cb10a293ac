#include "lib/base/file_ownership.hpp"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/atomic_file.hpp"

namespace muster {
namespace {

std::string quoted(const std::filesystem::path& path) {
  std::string text = "'";
  for (const char c : path.string()) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

Result<void> check_ownership(const struct stat& about, const std::filesystem::path& path,
                             const std::string& what, OthersMay others, uid_t own) {
  if (about.st_uid != own && about.st_uid != 0)
    return Error::config(what + " " + path.string() + " belongs to user " +
                         std::to_string(about.st_uid) + ", who can change it, and not to user " +
                         std::to_string(own) + ", who uses it: run chown " + std::to_string(own) +
                         " " + quoted(path) + " if its content is what you want");
  if (others == OthersMay::nothing && (about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return Error::config("others than its owner may use " + what + " in " + path.string() +
                         ": run chmod 600 " + quoted(path) +
                         ", and replace it if others may have read it");
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Error::config(what + " " + path.string() + " is writable by " +
                         (about.st_mode & S_IWOTH ? "everybody" : "its group") +
                         ": run chmod go-w " + quoted(path));
  return {};
}

Result<void> check_ownership(const std::filesystem::path& path, const std::string& what,
                             OthersMay others) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0)
    return Error::config(system_error("open", path, errno).message);
  return check_ownership(about, path, what, others, ::geteuid());
}

}  // namespace muster
