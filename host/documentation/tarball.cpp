#include "host/documentation/tarball.hpp"

#include <algorithm>
#include <archive.h>
#include <archive_entry.h>
#include <array>
#include <cerrno>
#include <locale.h>
#include <memory>
#include <optional>
#include <zlib.h>

#include <muster/utf8.hpp>

#include "host/documentation/file_path.hpp"

namespace muster::documentation {
namespace {

constexpr std::size_t block_bytes = 512;
constexpr int gzip_only = 16 + MAX_WBITS;

std::string in_kib(std::size_t bytes) {
  return std::to_string(bytes >> 10) + " KiB";
}

Error too_large(std::string message) {
  return Error::invalid(std::move(message)).with_code("InputTooLarge");
}

// libarchive takes names in the encoding of the thread's locale; the host's own is "C".
class Utf8Names {
 public:
  Utf8Names() : utf8_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (utf8_) before_ = uselocale(utf8_);
  }
  ~Utf8Names() {
    if (!utf8_) return;
    uselocale(before_);
    freelocale(utf8_);
  }
  Utf8Names(const Utf8Names&) = delete;
  Utf8Names& operator=(const Utf8Names&) = delete;

 private:
  locale_t utf8_, before_ = nullptr;
};

// -------------------------------------------------------------------------------------------------
// Reading

// The tar inside the gzip stream, a block at a time, so that a bomb is noticed before it is
// unpacked and a header cannot claim more memory than it may.
class TarBlocks {
 public:
  TarBlocks(std::string_view tarball, const Limits& limits) : limits_(limits) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(tarball.data()));
    stream_.avail_in = static_cast<uInt>(tarball.size());
    ready_ = inflateInit2(&stream_, gzip_only) == Z_OK;
    if (!ready_) problem_ = Error::internal("zlib cannot be started");
  }
  ~TarBlocks() {
    if (ready_) inflateEnd(&stream_);
  }
  TarBlocks(const TarBlocks&) = delete;
  TarBlocks& operator=(const TarBlocks&) = delete;

  // The next block; empty at the end. Nothing: `problem` says why.
  std::optional<std::string_view> next() {
    if (problem_) return std::nullopt;
    const std::size_t filled = fill();
    if (problem_) return std::nullopt;
    unpacked_ += filled;
    if (unpacked_ > limits_.unpacked_bytes) {
      problem_ = too_large("the tarball unpacks to more than " + in_kib(limits_.unpacked_bytes) +
                           ", which is the limit: leave out what is no documentation");
      return std::nullopt;
    }
    if (in_header_ && (header_ += filled) > limits_.header_bytes) {
      problem_ = too_large("the header of an entry has more than " + in_kib(limits_.header_bytes) +
                           ": pack the files with plain headers (tar --format=ustar)");
      return std::nullopt;
    }
    return std::string_view(block_.data(), filled);
  }

  void begin_header() { in_header_ = true, header_ = 0; }
  void end_header() { in_header_ = false; }
  const std::optional<Error>& problem() const { return problem_; }

  // What follows the end of the tar is padding and nothing else.
  Result<void> check_rest() {
    while (const auto block = next()) {
      if (block->empty()) return {};
      if (std::ranges::any_of(*block, [](char c) { return c != 0; }))
        return Error::invalid("the tarball has content behind its end: pack it again");
    }
    return *problem_;
  }

 private:
  // Zeros are the padding of tools that write whole blocks.
  bool has_bytes_behind() const {
    return std::any_of(stream_.next_in, stream_.next_in + stream_.avail_in,
                       [](Bytef byte) { return byte != 0; });
  }

  std::size_t fill() {
    stream_.next_out = reinterpret_cast<Bytef*>(block_.data());
    stream_.avail_out = block_bytes;
    while (stream_.avail_out > 0 && !ended_) {
      const int outcome = inflate(&stream_, Z_NO_FLUSH);
      ended_ = outcome == Z_STREAM_END;
      if (ended_ && has_bytes_behind())
        problem_ = Error::invalid(
            "the tarball has bytes behind the end of its gzip stream: pack it again with one "
            "stream");
      if (ended_ || outcome == Z_OK) continue;
      problem_ = Error::invalid(outcome == Z_BUF_ERROR
                                    ? "the tarball is cut off: send all of it"
                                    : "the tarball is no sound gzip: make it with tar -czf");
      break;
    }
    return block_bytes - stream_.avail_out;
  }

  const Limits limits_;
  z_stream stream_{};
  bool ready_ = false, ended_ = false, in_header_ = false;
  std::array<char, block_bytes> block_{};
  std::size_t unpacked_ = 0, header_ = 0;
  std::optional<Error> problem_;
};

la_ssize_t read_block(archive* reader, void* blocks, const void** out) {
  const auto block = static_cast<TarBlocks*>(blocks)->next();
  if (!block) {
    archive_set_error(reader, EIO, "stopped");
    return -1;
  }
  *out = block->data();
  return static_cast<la_ssize_t>(block->size());
}

class TarReader {
 public:
  TarReader(TarBlocks& blocks, const Limits& limits) : blocks_(blocks), limits_(limits) {}

  Result<Files> read() {
    archive* tar = tar_.get();
    if (!tar) return Error::internal("libarchive cannot be started");
    archive_read_support_filter_none(tar);
    archive_read_support_format_tar(tar);
    blocks_.begin_header();
    if (archive_read_open(tar, &blocks_, nullptr, read_block, nullptr) != ARCHIVE_OK)
      return why("it is no tar inside its gzip: make it with tar -czf");
    for (std::size_t entries = 0;; ++entries) {
      blocks_.begin_header();
      archive_entry* entry = nullptr;
      const int outcome = archive_read_next_header(tar, &entry);
      blocks_.end_header();
      if (outcome == ARCHIVE_EOF) break;
      if (outcome != ARCHIVE_OK) return why("an entry's header cannot be taken: pack it again");
      if (entries == limits_.entries)
        return too_large("the tarball has more than " + std::to_string(limits_.entries) +
                         " entries, which is the limit: leave out what is no documentation");
      if (auto taken = take(entry); !taken) return taken.error();
    }
    if (auto rest = blocks_.check_rest(); !rest) return rest.error();
    return std::move(files_);
  }

 private:
  // What the blocks say comes first: libarchive has only seen that they stopped.
  Error why(const std::string& otherwise) const {
    if (blocks_.problem()) return *blocks_.problem();
    const char* said = archive_error_string(tar_.get());
    return Error::invalid("the tarball cannot be read: " + otherwise +
                          (said ? " (" + valid_utf8(said) + ")" : ""));
  }

  Result<void> take(archive_entry* entry) {
    const char* name = archive_entry_pathname(entry);
    std::string path = name ? name : "";
    const auto type = archive_entry_filetype(entry);
    if (type == AE_IFDIR)
      while (path.size() > 1 && path.ends_with('/')) path.pop_back();
    if (type == AE_IFDIR && (path == "." || path == "./")) return {};  // of `tar -czf x.tgz .`
    if (path.starts_with("./")) path.erase(0, 2);
    if (auto fits = check_path(path, limits_); !fits) return fits;
    if (archive_entry_hardlink(entry) || type == AE_IFLNK)
      return Error::invalid("`" + path + "` is a link: pack the file itself (tar --dereference)");
    if (type != AE_IFREG && type != AE_IFDIR)
      return Error::invalid("`" + path +
                            "` is neither a file nor a folder (a device, a pipe or a socket): "
                            "leave it out");
    if (archive_entry_sparse_count(entry) > 0)
      return Error::invalid("`" + path + "` is a sparse file: pack it without --sparse");
    const bool is_file = type == AE_IFREG;
    if (auto is_new = paths_.add(path, is_file ? PathSet::Kind::file : PathSet::Kind::folder);
        !is_new)
      return is_new;
    if (!is_file) return {};
    const la_int64_t size = archive_entry_size(entry);
    if (size < 0 || static_cast<std::uint64_t>(size) > limits_.unpacked_bytes)
      return too_large("`" + path + "` says that it has " + std::to_string(size) +
                       " bytes, and all files together may have " + in_kib(limits_.unpacked_bytes));
    return read_content(files_[path], path);
  }

  Result<void> read_content(std::string& out, const std::string& path) {
    std::array<char, 16 << 10> piece{};
    for (;;) {
      const la_ssize_t got = archive_read_data(tar_.get(), piece.data(), piece.size());
      if (got == 0) return {};
      if (got < 0) return why("the content of `" + path + "` is cut off or broken: pack it again");
      out.append(piece.data(), static_cast<std::size_t>(got));
      if (out.size() > limits_.unpacked_bytes)
        return too_large("`" + path + "` has more than " + in_kib(limits_.unpacked_bytes));
    }
  }

  struct End {
    void operator()(archive* tar) const { archive_read_free(tar); }
  };
  TarBlocks& blocks_;
  const Limits limits_;
  const std::unique_ptr<archive, End> tar_{archive_read_new()};
  PathSet paths_;
  Files files_;
};

// -------------------------------------------------------------------------------------------------
// Writing

la_ssize_t append(archive*, void* out, const void* bytes, std::size_t size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

bool write_file(archive* tar, const std::string& path, const std::string& content) {
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                       archive_entry_free);
  if (!entry) return false;
  archive_entry_set_pathname(entry.get(), path.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), 0, 0);
  return archive_write_header(tar, entry.get()) == ARCHIVE_OK &&
         archive_write_data(tar, content.data(), content.size()) ==
             static_cast<la_ssize_t>(content.size());
}

bool write_files(archive* tar, const Files& files) {
  constexpr const char* first = "metadata.json";
  const auto metadata = files.find(first);
  if (metadata != files.end() && !write_file(tar, first, metadata->second)) return false;
  return std::ranges::all_of(files, [&](const auto& file) {
    return file.first == first || write_file(tar, file.first, file.second);
  });
}

}  // namespace

Result<Files> unpack(std::string_view tarball, const Limits& limits) {
  if (tarball.empty()) return Error::invalid("the tarball is empty: send a .tar.gz");
  if (tarball.size() > limits.compressed_bytes)
    return too_large("the tarball has " + in_kib(tarball.size()) + ", and " +
                     in_kib(limits.compressed_bytes) +
                     " is the limit: leave out what is no documentation");
  const Utf8Names names;
  TarBlocks blocks(tarball, limits);
  if (blocks.problem()) return *blocks.problem();
  return TarReader(blocks, limits).read();
}

Result<std::string> pack(const Files& files) {
  const Utf8Names names;
  std::string out;
  const std::unique_ptr<archive, int (*)(archive*)> tar(archive_write_new(), archive_write_free);
  const bool written =
      tar && archive_write_add_filter_gzip(tar.get()) == ARCHIVE_OK &&
      archive_write_set_format_pax_restricted(tar.get()) == ARCHIVE_OK &&
      archive_write_set_options(tar.get(), "gzip:!timestamp,gzip:compression-level=9") ==
          ARCHIVE_OK &&
      archive_write_set_bytes_in_last_block(tar.get(), 1) == ARCHIVE_OK &&
      archive_write_open(tar.get(), &out, nullptr, append, nullptr) == ARCHIVE_OK &&
      write_files(tar.get(), files) && archive_write_close(tar.get()) == ARCHIVE_OK;
  if (written) return out;
  const char* said = tar ? archive_error_string(tar.get()) : nullptr;
  return Error::invalid("the tarball cannot be made: " +
                        valid_utf8(said ? said : "libarchive cannot be started"));
}

}  // namespace muster::documentation
