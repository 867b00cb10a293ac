// Secrets that operators keep in files.
#pragma once

#include <filesystem>

#include <muster/error.hpp>

#include "lib/base/secret.hpp"

namespace muster {

// The file's content without white space at its end. Fails as `config`, never showing any of it, if
// others than its owner may use the file, if its owner is another user, if it is empty or large, or
// holds characters that no header may have. `what` names the secret in messages: "the access
// token". Read again for each use, so that a secret can be replaced while the host runs.
enum class SecretText { one_line, document };  // a document may have lines
Result<Secret> read_secret_file(const std::filesystem::path& file, const std::string& what,
                                SecretText text = SecretText::one_line);

}  // namespace muster
