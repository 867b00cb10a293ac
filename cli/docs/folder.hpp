// Documents as they lie in a folder of their author.
#pragma once

#include <filesystem>

#include "host/documentation/tarball.hpp"

namespace muster::cli {

// The files below the folder that belong to documentation: metadata.json, README.md, docs/,
// schemas/ and references/. Hidden ones are left out. Fails if one is a link or no file, or if
// there are more than documentation may have.
Result<documentation::Files> files_of_folder(const std::filesystem::path& folder);

}  // namespace muster::cli
