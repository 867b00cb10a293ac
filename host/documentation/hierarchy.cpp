#include "host/documentation/hierarchy.hpp"

#include <algorithm>
#include <array>

#include <muster/json.hpp>
#include <muster/utf8.hpp>

namespace muster::documentation {
namespace {

constexpr std::string_view metadata_file = "metadata.json";
constexpr std::string_view example =
    R"({"version": 1, "project": "my-workers", "tier": "workers", "menuIndex": 10})";
constexpr std::array<std::string_view, 6> tiers{"core",       "platform",  "integrations",
                                                "operations", "libraries", "workers"};

Error in_file(std::string_view path, const std::string& what) {
  return Error::invalid(std::string(path) + ": " + what);
}

Result<Metadata> read_metadata(const Files& files) {
  const auto found = files.find(std::string(metadata_file));
  if (found == files.end())
    return in_file(metadata_file, "the tarball lacks it; put it at the root with " +
                                      std::string(example) + ", and pack without a leading folder");
  const auto document = json::parse_object(found->second);
  if (!document) return in_file(metadata_file, document.error().message);
  const auto member = [&](std::string_view name) -> const json::value& {
    static const json::value none;
    const json::value* value = document->if_contains(name);
    return value ? *value : none;
  };
  const auto wanted = [](std::string_view name, const std::string& what) {
    return in_file(metadata_file, "`" + std::string(name) + "` must be " + what + ", as in " +
                                      std::string(example));
  };
  if (const json::value& version = member("version"); !version.is_int64() || version != 1)
    return wanted("version", "1, the only version that there is");
  Metadata metadata;
  const json::value &project = member("project"), &tier = member("tier"),
                    &menu_index = member("menuIndex");
  if (project.is_string()) metadata.project = project.get_string();
  if (metadata.project.empty() || metadata.project.size() > 128 || !is_plain_text(metadata.project))
    return wanted("project", "a name of 1 to 128 bytes");
  if (tier.is_string()) metadata.tier = tier.get_string();
  if (std::ranges::find(tiers, metadata.tier) == tiers.end())
    return wanted("tier", "core, platform, integrations, operations, libraries or workers");
  if (!menu_index.is_int64()) return wanted("menuIndex", "a whole number");
  metadata.menu_index = menu_index.get_int64();
  return metadata;
}

bool is_known_place(std::string_view path) {
  constexpr std::array<std::string_view, 4> folders{"docs/", "schemas/", "schema/", "references/"};
  return path == metadata_file || path == "README.md" ||
         std::ranges::any_of(folders,
                             [&](std::string_view each) { return path.starts_with(each); });
}

Result<void> check_file(const std::string& path, const std::string& content, const Limits& limits) {
  if (!is_known_place(path))
    return in_file(path,
                   "documentation has metadata.json, README.md, docs/, schemas/ and references/ at "
                   "its root and nothing else: move it below docs/, or leave it out");
  if (is_markdown(path)) {
    if (content.size() > limits.markdown_bytes)
      return in_file(path, std::to_string(content.size()) + " bytes of Markdown, and " +
                               std::to_string(limits.markdown_bytes) +
                               " is the limit: split it into several files")
          .with_code("InputTooLarge");
    if (!is_utf8(content)) return in_file(path, "Markdown must be UTF-8: convert it");
    return {};
  }
  if (path.starts_with("docs/") || path == metadata_file) return {};
  if (!path.ends_with(".json")) return in_file(path, "only .json files belong here");
  if (const auto parsed = json::parse(content); !parsed)
    return in_file(path, "not JSON: " + parsed.error().message);
  return {};
}

}  // namespace

bool is_markdown(std::string_view path) {
  return path.ends_with(".md");
}

Result<Hierarchy> check_hierarchy(Files files, const Limits& limits) {
  auto metadata = read_metadata(files);
  if (!metadata) return metadata.error();
  for (const auto& [path, content] : files)
    if (auto fits = check_file(path, content, limits); !fits) return fits.error();
  return Hierarchy{std::move(*metadata), std::move(files)};
}

Result<Hierarchy> read_tarball(std::string_view tarball, const Limits& limits) {
  auto files = unpack(tarball, limits);
  if (!files) return files.error();
  return check_hierarchy(std::move(*files), limits);
}

}  // namespace muster::documentation
