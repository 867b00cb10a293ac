#include "lib/base/secret_file.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

#include "lib/base/atomic_file.hpp"

namespace muster {
namespace {

constexpr std::size_t longest = 64 * 1024;

}  // namespace

Result<Secret> read_secret_file(const std::filesystem::path& file, const std::string& what,
                                SecretText text) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) {
    Error failed = system_error("read", file, errno);
    failed.error_class = ErrorClass::config;
    return failed;
  }
  if (status.st_mode & (S_IRWXG | S_IRWXO))
    return Error::config("others than its owner may use " + what + " in " + file.string() +
                         ": chmod 600 it, and replace it if others may have read it");
  auto content = read_file(file, longest);
  if (!content) return Error::config(content.error().message);
  content->erase(content->find_last_not_of(" \t\r\n") + 1);
  if (content->empty())
    return Error::config(file.string() + ", which holds " + what + ", is empty");
  const bool lines = text == SecretText::document;
  if (std::any_of(content->begin(), content->end(), [&](char c) {
        return (c < ' ' || c > '~') && !(lines && (c == '\n' || c == '\r' || c == '\t'));
      }))
    return Error::config(file.string() + " holds characters that cannot be in " + what);
  return Secret(std::move(*content));
}

}  // namespace muster
