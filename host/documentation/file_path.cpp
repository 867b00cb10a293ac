#include "host/documentation/file_path.hpp"

#include <algorithm>
#include <array>

#include <muster/utf8.hpp>

namespace muster::documentation {
namespace {

// Of ASCII alone: other letters are told apart by the systems that fold these.
std::string small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

// Invisible ones, and those that turn the direction of what follows, in UTF-8.
bool has_hidden_characters(std::string_view text) {
  constexpr std::array<std::string_view, 16> hidden{
      "\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u202a", "\u202b", "\u202c",
      "\u202d", "\u202e", "\u2060", "\u2066", "\u2067", "\u2068", "\u2069", "\ufeff"};
  return std::ranges::any_of(hidden,
                             [&](std::string_view each) { return text.find(each) != text.npos; });
}

Error bad_path(std::string_view path, const std::string& why) {
  return Error::invalid("the path `" + valid_utf8(path.substr(0, 300)) + "` " + why);
}

Result<void> check_segment(std::string_view path, std::string_view segment) {
  if (segment.empty()) return bad_path(path, "has an empty part: write one / between two names");
  if (segment == "." || segment == "..")
    return bad_path(path, "has the part `" + std::string(segment) +
                              "`: name each file by its place below the tarball's root");
  if (segment.back() == ' ' || segment.back() == '.')
    return bad_path(path, "has a name that ends with a blank or a dot: rename it");
  return {};
}

}  // namespace

Result<void> check_path(std::string_view path, const Limits& limits) {
  if (path.empty()) return Error::invalid("an entry of the tarball has no path: pack it again");
  if (!is_utf8(path)) return bad_path(path, "is not UTF-8: rename it");
  if (!is_plain_text(path)) return bad_path(path, "has control characters: rename it");
  if (has_hidden_characters(path)) return bad_path(path, "has invisible characters: rename it");
  if (path.size() > limits.path_bytes)
    return bad_path(path, "has " + std::to_string(path.size()) + " bytes, and " +
                              std::to_string(limits.path_bytes) + " is the limit: shorten it");
  if (path.front() == '/')
    return bad_path(path, "is absolute: pack with paths relative to the folder of the documents");
  if (path.find('\\') != path.npos || path.find(':') != path.npos)
    return bad_path(path, "has a backslash or a colon: rename it");
  std::size_t depth = 0;
  for (std::string_view rest = path;;) {
    const auto slash = std::min(rest.find('/'), rest.size());
    if (auto fits = check_segment(path, rest.substr(0, slash)); !fits) return fits;
    ++depth;
    if (slash == rest.size()) break;
    rest.remove_prefix(slash + 1);
  }
  if (depth > limits.path_depth)
    return bad_path(path, "is " + std::to_string(depth) + " levels deep, and " +
                              std::to_string(limits.path_depth) + " is the limit: move it up");
  return {};
}

Result<void> PathSet::add(std::string_view path, Kind kind) {
  for (std::size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    const std::string folder(path.substr(0, slash));
    const auto [at, is_new] =
        known_.try_emplace(small_letters(folder), Known{folder, Kind::folder, false});
    if (at->second.path != folder)
      return bad_path(path, "differs from `" + at->second.path +
                                "` in the case of its letters alone: use one spelling");
    if (at->second.kind == Kind::file)
      return bad_path(path, "lies below `" + folder + "`, which is a file: rename one of them");
  }
  const auto [at, is_new] =
      known_.try_emplace(small_letters(path), Known{std::string(path), kind, true});
  Known& known = at->second;
  if (is_new) return {};
  if (known.path != path)
    return bad_path(path, "differs from `" + known.path +
                              "` in the case of its letters alone: rename one of them");
  if (known.kind != kind) return bad_path(path, "is a file and a folder: rename one of them");
  if (known.kind == Kind::folder && !known.listed) return known.listed = true, Result<void>();
  return bad_path(path, "is in the tarball twice: pack it again");
}

}  // namespace muster::documentation
