// A gzip-compressed tar as it comes from outside, read in memory and never written to a disk.
//
// Pure functions. THREADS: any.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include <muster/error.hpp>

namespace muster::documentation {

struct Limits {
  std::size_t compressed_bytes = 4 << 20;
  std::size_t unpacked_bytes = 16 << 20;  // of the whole tar
  std::size_t entries = 2000;
  std::size_t path_depth = 16;  // folders and the file
  std::size_t path_bytes = 255;
  // Of what stands before the content of an entry. Its parser needs more memory than that has.
  std::size_t header_bytes = 64 << 10;
  std::size_t markdown_bytes = 64 << 10;  // of one file; its parser can need their square
};

// Content by path: "docs/usage.md".
using Files = std::map<std::string, std::string>;

// The files of a tarball. Fails as `invalid`, as soon as a limit is passed, with the path and what
// to do; code "InputTooLarge" for a limit of size or number. Only plain files and folders are
// taken, and a "./" before their paths is left out.
Result<Files> unpack(std::string_view tarball, const Limits& limits = {});

// The same files make the same bytes on every machine and at any time. "metadata.json" comes first.
Result<std::string> pack(const Files& files);

}  // namespace muster::documentation
