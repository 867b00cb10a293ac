// Files that are either the old or the new one, whatever happens in between.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/types.h>

#include <muster/error.hpp>

namespace muster {

// Replaces the file's content: a temporary file beside it, fsync, rename, fsync of the folder. When
// it returns, the new content survives a power cut; when it fails, the old content is untouched and
// nothing is left behind. THREADS: any; two writers of the same file do not mix, the last one wins.
Result<void> write_file_atomically(const std::filesystem::path& file, std::string_view content,
                                   mode_t mode = 0644);

// The whole file. Fails as `notFound` if there is none, and as `invalid` if it is larger than
// `max_size` or no regular file, so that a wrong path (/dev/zero) cannot fill the memory.
Result<std::string> read_file(const std::filesystem::path& file, std::size_t max_size);

// "open /x/y: Permission denied", from errno.
Error system_error(std::string_view what, const std::filesystem::path& file, int error_number);

}  // namespace muster
