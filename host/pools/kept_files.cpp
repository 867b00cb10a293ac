#include "host/pools/kept_files.hpp"

#include <algorithm>

#include <muster/json.hpp>

#include "lib/base/atomic_file.hpp"

namespace muster::pools {
namespace {

// More than any set of files that a source gives.
constexpr std::size_t most_bytes = std::size_t{1} << 30;

const std::string* text_in(const json::object& object, const char* key, std::string& out) {
  const json::value* found = object.if_contains(key);
  if (!found || !found->is_string()) return nullptr;
  out = std::string(found->get_string());
  return &out;
}

}  // namespace

std::string held_back_sentence(const std::string& what) {
  return what +
         "; the last worker configurations stay in force. If they are really to go: muster config "
         "accept-empty; otherwise put them back, nothing else is needed";
}

Result<std::optional<SourceFiles>> read_kept(const std::filesystem::path& file) {
  const auto text = read_file(file, most_bytes);
  if (!text && text.error().error_class == ErrorClass::not_found)
    return std::optional<SourceFiles>();
  if (!text) return text.error();
  const Error damaged = Error::invalid(
      file.string() + " does not hold worker configurations: remove it, it is written again");
  const auto document = json::parse_object(*text);
  if (!document) return damaged;
  SourceFiles kept;
  const json::value* files = document->if_contains("files");
  if (!text_in(*document, "revision", kept.revision) || !files || !files->is_array())
    return damaged;
  for (const json::value& item : files->get_array()) {
    rules::SourceFile read;
    if (!item.is_object() || !text_in(item.get_object(), "name", read.name) ||
        !text_in(item.get_object(), "text", read.text))
      return damaged;
    kept.files.push_back(std::move(read));
  }
  return std::optional(std::move(kept));
}

Result<void> keep(const SourceFiles& files, const std::filesystem::path& file) {
  json::array shown;
  for (const rules::SourceFile& one : files.files)
    shown.push_back(json::object{{"name", one.name}, {"text", one.text}});
  const json::object document{{"revision", files.revision}, {"files", std::move(shown)}};
  return write_file_atomically(file, json::write(document) + "\n", 0600);
}

std::optional<std::string> doubt_about(const std::vector<rules::SourceFile>& now,
                                       std::size_t before, bool piecemeal) {
  const auto readable = std::ranges::count_if(
      now, [](const rules::SourceFile& file) { return file.unreadable.empty(); });
  if (readable == 0 && before > 0)
    return held_back_sentence(now.empty() ? "there is no worker configuration any more"
                                          : "no worker configuration can be read: " +
                                                now.front().name + " " + now.front().unreadable);
  if (piecemeal && 2 * now.size() < before)
    return held_back_sentence("of " + std::to_string(before) +
                              " worker configurations most are gone at once");
  return std::nullopt;
}

}  // namespace muster::pools
