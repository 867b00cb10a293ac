// Files that are either the old or the new one, and locks that end with their holder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include <muster/context.hpp>
#include <muster/error.hpp>

#include "plugins/base/descriptor.hpp"

namespace muster {

// A disk that is full is `capacity`: the host tries others and comes back. All else is `transient`.
Error trouble(const std::filesystem::path& file, const char* what, int error_number);

// A new file is synced and renamed over the old one, and so is their folder: what it wrote survives
// a power cut, and after a failure the old content is there and nothing beside it.
Result<void> write_durably(const std::filesystem::path& file, std::string_view content,
                           mode_t mode = 0600);

// Nothing if there is no such file. What is larger than `most`, or no regular file, is an error.
Result<std::optional<std::string>> read_if_there(const std::filesystem::path& file,
                                                 std::size_t most = 1 << 20);

bool is_there(const std::filesystem::path& file);  // of any kind; links are not followed

// An exclusive lock (flock) on the file, which is made if need be; tried until the context is
// cancelled, which is Error::cancelled.
Result<Descriptor> lock_file(const std::filesystem::path& file, const Context& context);
// Nothing: somebody else has it.
Result<std::optional<Descriptor>> try_lock_file(const std::filesystem::path& file);

// Whether somebody holds the lock. Takes it for a moment where nobody does: a process that may be
// about to take it must be kept from that by other means.
enum class LockState { missing, held, free };
LockState look_at_lock(const std::filesystem::path& file);

}  // namespace muster
