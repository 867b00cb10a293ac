// Items of inline arrays and inline tables, with their commas, lines and comments.
#include <algorithm>

#include "surgery.hpp"

namespace muster::rules::syntax {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t';
}

std::size_t skip_spaces(std::string_view text, std::size_t position) {
  while (position < text.size() && is_space(text[position])) ++position;
  return position;
}

// Whether the line ends at `position`, but for spaces and a comment.
bool is_line_rest(std::string_view text, std::size_t position) {
  position = skip_spaces(text, position);
  return position >= text.size() || text[position] == '#' || text[position] == '\r' ||
         text[position] == '\n';
}

// Whether the item has its line (or lines) for itself.
bool stands_alone(std::string_view text, const Entry& item) {
  const auto begin = line_begin(text, item.begin());
  if (skip_spaces(text, begin) != item.begin()) return false;
  return is_line_rest(text, item.comma == npos ? item.end() : item.comma + 1);
}

std::string indent_of(std::string_view text, const Entry& item) {
  const auto begin = line_begin(text, item.begin());
  return std::string(text.substr(begin, item.begin() - begin));
}

std::string insert_first(std::string text, const Value& container, std::string_view item) {
  const auto begin = container.span.begin + 1, end = container.span.end - 1;
  if (text.find_first_not_of(" \t\r\n", begin) < end) {  // only a comment stands there
    text.insert(begin, item);
  } else if (container.kind == Value::Kind::table) {
    text.replace(begin, end - begin, " " + std::string(item) + " ");
  } else {
    text.replace(begin, end - begin, item);
  }
  return text;
}

std::string append_item(std::string text, const Value& container, std::string_view item) {
  const auto& last = container.items.back();
  const bool trailing_comma = last.comma != npos;
  if (stands_alone(text, last)) {
    const auto line = line_end(text, trailing_comma ? last.comma : last.end());
    text.insert(line, indent_of(text, last) + std::string(item) + (trailing_comma ? "," : "") +
                          std::string(line_break(text)));
    if (!trailing_comma) text.insert(last.end(), ",");
  } else if (trailing_comma) {
    text.insert(last.comma + 1, " " + std::string(item) + ",");
  } else {
    text.insert(last.end(), ", " + std::string(item));
  }
  return text;
}

}  // namespace

std::string insert_item(std::string text, const Value& container, std::size_t index,
                        std::string_view item) {
  if (container.items.empty()) return insert_first(std::move(text), container, item);
  if (index >= container.items.size()) return append_item(std::move(text), container, item);
  const auto& next = container.items[index];
  if (stands_alone(text, next)) {
    text.insert(line_begin(text, next.begin()),
                indent_of(text, next) + std::string(item) + "," + std::string(line_break(text)));
  } else {
    text.insert(next.begin(), std::string(item) + ", ");
  }
  return text;
}

std::string remove_item(std::string text, const Value& container, std::size_t index) {
  const auto& item = container.items[index];
  const bool last = index + 1 == container.items.size();
  // Later bytes first, so that the positions of earlier ones stay true.
  if (stands_alone(text, item)) {
    const auto begin = line_begin(text, item.begin());
    const auto end = line_end(text, item.comma == npos ? item.end() : item.comma);
    text.erase(begin, end - begin);
    if (last && item.comma == npos && index > 0) text.erase(container.items[index - 1].comma, 1);
  } else if (container.items.size() == 1) {
    const auto begin = container.span.begin + 1, end = container.span.end - 1;
    // A comment or line end around the only item stays.
    if (text.substr(begin, end - begin).find_first_of("#\n") == std::string::npos ||
        container.kind == Value::Kind::table) {
      text.erase(begin, end - begin);
    } else {
      text.erase(item.begin(), (item.comma == npos ? item.end() : item.comma + 1) - item.begin());
    }
  } else if (item.comma != npos) {
    auto end = item.comma + 1;
    const auto next = skip_spaces(text, end);
    // At the end of a line the spaces before a comment stay.
    if (!is_line_rest(text, end)) end = next;
    text.erase(item.begin(), end - item.begin());
  } else {
    const auto& previous = container.items[index - 1];
    const auto gap = text.substr(previous.comma + 1, item.begin() - previous.comma - 1);
    if (gap.find_first_not_of(" \t") == std::string::npos) {
      text.erase(previous.comma, item.end() - previous.comma);
    } else {
      text.erase(item.begin(), item.end() - item.begin());
      text.erase(previous.comma, 1);
    }
  }
  return text;
}

// The bytes of the items change places; the layout between them stays. The comments at the ends of
// their lines go with them where each has a line for itself.
std::string move_item(std::string text, const Value& container, std::size_t from, std::size_t to) {
  const auto& items = container.items;
  const bool lines = std::all_of(items.begin(), items.end(),
                                 [&](const auto& item) { return stands_alone(text, item); });
  const auto comment_of = [&](const Entry& item) {
    const auto begin = item.comma == npos ? item.end() : item.comma + 1;
    return Span{begin, text.find_first_of("\r\n", begin)};
  };
  std::vector<std::size_t> order(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto at = [&](std::size_t i) { return order.begin() + static_cast<std::ptrdiff_t>(i); };
  if (from < to)
    std::rotate(at(from), at(from + 1), at(to + 1));
  else
    std::rotate(at(to), at(from), at(from + 1));
  std::string moved = text;
  for (auto i = items.size(); i-- > 0;) {  // later bytes first
    const auto& source = items[order[i]];
    if (lines) {
      const auto old = comment_of(items[i]), now = comment_of(source);
      moved.replace(old.begin, old.end - old.begin, text, now.begin, now.end - now.begin);
    }
    moved.replace(items[i].begin(), items[i].end() - items[i].begin(), text, source.begin(),
                  source.end() - source.begin());
  }
  return moved;
}

}  // namespace muster::rules::syntax
