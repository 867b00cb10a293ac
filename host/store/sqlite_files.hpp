// The files around an SQLite database: FILE itself, FILE-wal and FILE-shm, the lock, and copies
// that take their place whole. Nothing here may open a file that SQLite has open in this process:
// closing it would drop SQLite's locks.
#pragma once

#include <filesystem>
#include <string_view>

#include <muster/error.hpp>

#include "lib/base/clock.hpp"
#include "lib/base/file_descriptor.hpp"

namespace muster::store::sqlite {

// "open /x/y: Permission denied: ..." in the classes of store.hpp, where `internal` means damage.
Error file_error(std::string_view what, const std::filesystem::path& file, int error_number);

std::filesystem::path beside(const std::filesystem::path& file, const char* suffix);

// Held until the descriptor is closed. Fails as `config` if somebody else has the database open.
Result<FileDescriptor> lock(const std::filesystem::path& file);

// Whether the file is a database of muster. Fails as `internal` if it is damaged, and as `config`
// if it is something else; `advice` is what to do about that.
Result<void> check_header(
    const std::filesystem::path& file, std::int64_t application_id,
    std::string_view advice = "move it away, or give the host another dataDirectory");

// The file or folder survives a power cut.
Result<void> sync(const std::filesystem::path& path);

// The database and all that belongs to it, if it is there.
void remove_database(const std::filesystem::path& file);

// A whole database waits beside FILE under this name, until it has taken FILE's place.
inline constexpr const char* rebuilt = ".rebuilt";

// What becomes of the old FILE.
inline constexpr const char* damaged = ".damaged-";
inline constexpr const char* replaced = ".replaced-";

// Renames FILE and what belongs to it to FILE.damaged-<time> (or with another word), and
// FILE.rebuilt to FILE. Begins where a crash ended it; does nothing if there is no FILE.rebuilt.
// The new name of the old FILE; empty if there was none.
Result<std::filesystem::path> put_rebuilt_in_place(const std::filesystem::path& file,
                                                   const Clock& clock, const char* word = damaged);

// Moves `from` to the name `to` in one step and makes it durable. Without `replace` it fails as
// `invalid` if there is such a file.
Result<void> move_into_place(const std::filesystem::path& from, const std::filesystem::path& to,
                             bool replace);

}  // namespace muster::store::sqlite
