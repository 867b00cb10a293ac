#include "lib/base/secret_file.hpp"

#include <algorithm>

#include "lib/base/atomic_file.hpp"
#include "lib/base/file_ownership.hpp"

namespace muster {
namespace {

constexpr std::size_t longest = 64 * 1024;

}  // namespace

Result<Secret> read_secret_file(const std::filesystem::path& file, const std::string& what,
                                SecretText text) {
  if (const auto ours = check_ownership(file, what, OthersMay::nothing); !ours) return ours.error();
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
