// The files that AWS's own tools keep in ~/.aws: profiles with keys and roles.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <muster/error.hpp>

namespace muster::aws {

using Profile =
    std::map<std::string, std::string>;  // "role_arn" → "arn:..."; keys in small letters
using Profiles = std::map<std::string, Profile>;

// Which of the two: in `config` a profile is [profile name], in `credentials` [name].
enum class SharedFile { config, credentials };

// Lines that are no setting are ignored, as AWS's tools do; what is before the first section
// belongs to the profile `default`.
Profiles parse_profiles(std::string_view text, SharedFile file);

struct SharedFiles {
  std::string config_file, credentials_file;  // paths; empty: there is none
};

// The profile of both files, `credentials` counting more. `notFound` if neither has it, and `auth`
// if a file is there but cannot be read. Messages have paths and no content.
Result<Profile> read_profile(const SharedFiles& files, const std::string& name);

}  // namespace muster::aws
