// The worker configurations that served last, in a file of the data directory: they stay in force
// when their source is gone or empty, also over a restart and over the loss of the database.
#pragma once

#include <filesystem>
#include <optional>

#include "host/pools/source.hpp"

namespace muster::pools {

// Nothing if there is no such file; an error if it cannot be used.
Result<std::optional<SourceFiles>> read_kept(const std::filesystem::path& file);

// Durable when it returns; readable by its owner alone.
Result<void> keep(const SourceFiles& files, const std::filesystem::path& file);

// "<what>; the last ones stay in force ...", and how to decide otherwise.
std::string held_back_sentence(const std::string& what);

// Why this is not taken for a decision, if it is not: most of what served is gone. Nothing: it is a
// change like any other. `before`: files that served; 0: none. `piecemeal`: files may be missing
// because somebody copies or mounts them.
std::optional<std::string> doubt_about(const std::vector<rules::SourceFile>& now,
                                       std::size_t before, bool piecemeal);

}  // namespace muster::pools
