#include "lib/http/admin_token.hpp"

#include <cerrno>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/atomic_file.hpp"
#include "lib/base/file_ownership.hpp"

namespace muster::http {
namespace {

constexpr std::size_t shortest_token = 32, longest_admin_token = 4096;

std::string trimmed(std::string text) {
  const auto end = text.find_last_not_of(" \t\r\n");
  text.erase(end == std::string::npos ? 0 : end + 1);
  return text;
}

Result<AdminToken> make_token(const std::filesystem::path& file) {
  const Secret token = random_token();
  if (const auto written = write_file_atomically(file, token.reveal() + "\n", 0600); !written)
    return written.error();
  return AdminToken{sha256(token.reveal()), true};
}

}  // namespace

Result<AdminToken> read_or_make_admin_token(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0)
    return errno == ENOENT ? make_token(file) : system_error("read", file, errno);
  if (const auto ours =
          check_ownership(status, file, "the admin token", OthersMay::nothing, ::geteuid());
      !ours)
    return ours.error();
  const auto content = read_file(file, longest_admin_token);
  if (!content) return content.error();
  const Secret token(trimmed(*content));
  if (token.reveal().size() < shortest_token)
    return Error::config("the admin token in " + file.string() + " has fewer than " +
                         std::to_string(shortest_token) +
                         " characters: delete the file, and a good one is made at the next start");
  return AdminToken{sha256(token.reveal()), false};
}

}  // namespace muster::http
