#include "host/documentation/links.hpp"

#include <algorithm>
#include <vector>

#include "host/documentation/hierarchy.hpp"
#include "lib/url/url.hpp"

namespace muster::documentation {
namespace {

// As GitHub does for ASCII: small letters, digits, dashes for blanks; other bytes stay.
std::string slug_of(std::string_view text) {
  std::string slug;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
    if (c >= 'A' && c <= 'Z')
      slug += static_cast<char>(c - 'A' + 'a');
    else if (is_letter || byte >= 0x80)
      slug += c;
    else if (c == ' ' || c == '-')
      slug += '-';
  }
  return slug;
}

bool has_scheme(std::string_view url, std::string_view scheme) {
  return url.size() > scheme.size() &&
         std::equal(scheme.begin(), scheme.end(), url.begin(), [](char wanted, char given) {
           return wanted == (given >= 'A' && given <= 'Z' ? given - 'A' + 'a' : given);
         });
}

bool is_web_address(std::string_view url) {
  return has_scheme(url, "https://") || has_scheme(url, "http://") || has_scheme(url, "mailto:");
}

std::string encoded(std::string_view path) {
  std::string text;
  for (;;) {
    const auto slash = std::min(path.find('/'), path.size());
    text += encode_segment(path.substr(0, slash));
    if (slash == path.size()) return text;
    text += '/';
    path.remove_prefix(slash + 1);
  }
}

// "docs/a.md" and "../README.md" → "README.md". Nothing: it leads out of the tarball.
std::optional<std::string> joined(std::string_view page, std::string_view target) {
  std::vector<std::string_view> parts;
  const auto walk = [&](std::string_view path) {
    for (;;) {
      const auto slash = std::min(path.find('/'), path.size());
      const std::string_view part = path.substr(0, slash);
      if (part == "..") {
        if (parts.empty()) return false;
        parts.pop_back();
      } else if (!part.empty() && part != ".") {
        parts.push_back(part);
      }
      if (slash == path.size()) return true;
      path.remove_prefix(slash + 1);
    }
  };
  if (!target.starts_with('/') && page.find('/') != page.npos)
    walk(page.substr(0, page.rfind('/')));
  if (!walk(target)) return std::nullopt;
  std::string path;
  for (const std::string_view part : parts) path.append(path.empty() ? "" : "/").append(part);
  return path;
}

// The file that the path means, written as it is or escaped.
const std::string* find_file(const Files& files, const std::string& path) {
  if (const auto found = files.find(path); found != files.end()) return &found->first;
  for (const auto& [name, content] : files)
    if (encoded(name) == path) return &name;
  return nullptr;
}

const std::string* find_target(const Files& files, const std::string& path) {
  for (const char* below : {"", "/README.md", "/index.md", ".md"})
    if (const auto* found = find_file(files, path + below)) return found;
  return nullptr;
}

}  // namespace

std::string page_id(const LinkBase& base, std::string_view path) {
  std::string id = base.anchors;
  for (std::string_view rest = path; !rest.empty();) {
    const auto end = std::min(rest.find_first_of("/."), rest.size());
    id += "-" + slug_of(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return id;
}

std::string heading_id(const LinkBase& base, std::string_view path, std::string_view heading) {
  return page_id(base, path) + "--" + slug_of(heading);
}

std::optional<std::string> resolve_link(const LinkBase& base, std::string_view path,
                                        std::string_view url, LinkKind kind) {
  const bool is_image = kind == LinkKind::image;
  if (is_web_address(url)) return is_image ? std::nullopt : std::optional(std::string(url));
  if (url.empty() || url.starts_with("//") || url.find(':') != url.npos ||
      url.find('\\') != url.npos)
    return std::nullopt;
  const auto hash = std::min(url.find('#'), url.size());
  const std::string_view fragment = url.substr(std::min(hash + 1, url.size()));
  const auto to_page = [&](std::string_view page) {
    return "#" + (fragment.empty() ? page_id(base, page) : heading_id(base, page, fragment));
  };
  const std::string_view target = url.substr(0, std::min(hash, url.find('?')));
  if (target.empty()) return is_image ? std::nullopt : std::optional(to_page(path));
  const auto wanted = joined(path, target);
  const std::string* found = wanted ? find_target(base.files, *wanted) : nullptr;
  if (!found) return std::nullopt;
  if (!is_markdown(*found)) return base.addresses + encoded(*found);
  return is_image ? std::nullopt : std::optional(to_page(*found));
}

}  // namespace muster::documentation
