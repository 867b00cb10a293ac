#include "host/documentation/markdown.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace muster::documentation {
namespace {

struct FrontMatter {
  std::string title;
  double order = std::numeric_limits<double>::infinity();  // behind all that have one
};

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::string_view next_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string unquoted(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front())
    text = text.substr(1, text.size() - 2);
  return std::string(text);
}

// Cuts the block between two lines of `---` off the text. Without an end there is none.
FrontMatter take_front_matter(std::string_view& text) {
  FrontMatter found;
  std::string_view rest = text;
  if (without_blanks(next_line(rest)) != "---") return found;
  while (!rest.empty()) {
    const std::string_view line = without_blanks(next_line(rest));
    if (line == "---") return text = rest, found;
    const auto colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string_view key = line.substr(0, colon);
    const std::string value = unquoted(without_blanks(line.substr(colon + 1)));
    if (key == "title") found.title = value;
    if (key == "order") std::from_chars(value.data(), value.data() + value.size(), found.order);
  }
  return {};
}

bool begins_with_heading(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(" \r\n"), text.size())).starts_with("# ");
}

void append_pages(std::string& out, const Hierarchy& hierarchy) {
  for (const Page& page : pages_of(hierarchy)) {
    if (!out.empty()) out += out.ends_with('\n') ? "\n" : "\n\n";
    out += page.text;
  }
}

}  // namespace

std::vector<Page> pages_of(const Hierarchy& hierarchy) {
  struct Ordered {
    bool is_readme;
    double order;
    Page page;
  };
  std::vector<Ordered> found;
  for (const auto& [path, content] : hierarchy.files) {
    const bool is_readme = path == "README.md";
    if (!is_markdown(path) || !(is_readme || path.starts_with("docs/"))) continue;
    std::string_view text = content;
    const FrontMatter front = take_front_matter(text);
    std::string titled;
    if (!front.title.empty() && !begins_with_heading(text)) titled = "# " + front.title + "\n\n";
    found.push_back({is_readme, front.order, {path, titled.append(text)}});
  }
  std::ranges::stable_sort(found, [](const Ordered& a, const Ordered& b) {
    return a.is_readme != b.is_readme ? a.is_readme : a.order < b.order;
  });
  std::vector<Page> pages;
  for (Ordered& each : found) pages.push_back(std::move(each.page));
  return pages;
}

std::string merged_markdown(const Hierarchy* own, const Hierarchy* general) {
  std::string out;
  if (own) append_pages(out, *own);
  if (!general) return out;
  if (!out.empty()) out += out.ends_with('\n') ? "\n" : "\n\n";
  out.append("# ").append(general_heading).append("\n");
  append_pages(out, *general);
  return out;
}

}  // namespace muster::documentation
