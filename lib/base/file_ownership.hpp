// Whether others could replace or read what a program trusts.
#pragma once

#include <filesystem>
#include <string>
#include <sys/types.h>

#include <muster/error.hpp>

struct stat;

namespace muster {

enum class OthersMay {
  read,    // but not write
  nothing  // a secret
};

// Fails as `config` if the file or folder belongs to another user than this process' own or root,
// or if its group or others may do more with it than they may. The message names the file as `what`
// ("the admin token"), and the command that makes it right. Links are followed.
Result<void> check_ownership(const std::filesystem::path& path, const std::string& what,
                             OthersMay others);

// The decision. Pure.
Result<void> check_ownership(const struct stat& about, const std::filesystem::path& path,
                             const std::string& what, OthersMay others, uid_t own);

}  // namespace muster
