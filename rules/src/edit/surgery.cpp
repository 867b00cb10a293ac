#include "surgery.hpp"

#include <algorithm>
#include <utility>

#include "same.hpp"

namespace muster::rules::syntax {
namespace {

using Kind = Place::Kind;

Place find_in(const std::vector<Entry>& entries, const Address& path, std::size_t depth,
              const Section& section, const Value* inside);

// Inside a value: down through array elements and inline tables.
Place find_below(const Value& start, const Address& path, std::size_t depth,
                 const Section& section) {
  const Value* value = &start;
  while (value->kind == Value::Kind::array) {
    const auto* index = std::get_if<std::size_t>(&path[depth]);
    if (!index || *index >= value->items.size()) return {};
    const auto& element = value->items[*index];
    if (++depth == path.size()) return {Kind::entry, &section, value, &element, depth - 1};
    value = &element.value;
  }
  if (value->kind == Value::Kind::scalar) return {};
  return find_in(value->items, path, depth, section, value);
}

Place find_in(const std::vector<Entry>& entries, const Address& path, std::size_t depth,
              const Section& section, const Value* inside) {
  for (const auto& entry : entries) {
    std::size_t same = 0;
    while (same < entry.key.size() && depth + same < path.size() &&
           path[depth + same] == Step(entry.key[same]))
      ++same;
    const auto reached = depth + same;
    if (same == entry.key.size() && reached < path.size())
      return find_below(entry.value, path, reached, section);
    if (reached == path.size())
      return {same == entry.key.size() ? Kind::entry : Kind::dotted, &section, inside, &entry,
              depth};
  }
  return {};
}

std::vector<std::string> keys_of(const Address& path, std::size_t from = 0) {
  std::vector<std::string> keys;
  for (auto i = from; i < path.size(); ++i)
    if (const auto* key = std::get_if<std::string>(&path[i])) keys.push_back(*key);
  return keys;
}

Address extended(Address path, Step step) {
  path.push_back(std::move(step));
  return path;
}

// `=` as the neighbour writes it, unless it aligns a column.
std::string equals_like(std::string_view text, const Entry* neighbour) {
  if (!neighbour) return " = ";
  const auto between =
      text.substr(neighbour->key_span.end, neighbour->value.span.begin - neighbour->key_span.end);
  return between == "=" ? "=" : " = ";
}

std::string indent_at(std::string_view text, std::size_t line) {
  auto end = line;
  while (end < text.size() && (text[end] == ' ' || text[end] == '\t')) ++end;
  return std::string(text.substr(line, end - line));
}

std::string insert_entry_line(std::string text, const Section& section, const Entry* after,
                              const std::vector<std::string>& keys, const toml::node& value) {
  if (!after && !section.entries.empty()) after = &section.entries.back();
  const auto model_line = after ? line_begin(text, after->begin()) : section.header_begin;
  const bool is_root = section.path.empty();
  const auto indent = after || !is_root ? indent_at(text, model_line) : "";
  const auto position = after ? line_end(text, after->end()) : section.body_begin;
  text.insert(position, indent + write_keys(keys) + equals_like(text, after) + write_value(value) +
                            std::string(line_break(text)));
  return text;
}

// Whether sub-tables' headers in this text stand after a blank line.
bool blank_before_headers(std::string_view text, const Document& document) {
  for (const auto& section : document.sections)
    if (!section.is_element && !section.path.empty() && section.leading_begin > 0)
      return is_blank_line(text, line_begin(text, section.leading_begin - 1));
  return false;
}

std::string insert_section(std::string text, const Document& document, std::size_t position,
                           bool before_others, const Address& table, const std::string& key,
                           const toml::node& value) {
  const std::string nl(line_break(text));
  const bool blank = blank_before_headers(text, document);
  std::string block = "[" + write_keys(keys_of(table)) + "]" + nl + write_key(key) + " = " +
                      write_value(value) + nl;
  if (blank) block = before_others ? block + nl : nl + block;
  text.insert(position, block);
  return text;
}

bool has_header_like(const Document& document, const Address& path) {
  const auto keys = keys_of(path);
  return std::any_of(document.sections.begin(), document.sections.end(), [&](const auto& section) {
    return !section.path.empty() && !section.is_element && keys_of(section.path) == keys;
  });
}

Result<std::string> insert_below(std::string text, const Document& document, const Place& place,
                                 const Address& ancestor, const Address& path,
                                 const toml::node& value) {
  const auto rest = keys_of(path, ancestor.size());
  const auto last_of = [&] {
    const Section* last = place.section;
    for (const auto& section : document.sections)
      if (is_prefix(ancestor, section.path)) last = &section;
    return last;
  };
  const Address table(path.begin(), path.end() - 1);
  switch (place.kind) {
    case Kind::entry:
      if (place.entry->value.kind != Value::Kind::table) break;
      return insert_item(std::move(text), place.entry->value, npos,
                         write_keys(rest) + " = " + write_value(value));
    case Kind::dotted: {
      const auto keys = keys_of(path, place.depth);
      if (place.inside)
        return insert_item(std::move(text), *place.inside, npos,
                           write_keys(keys) + " = " + write_value(value));
      const Entry* after = place.entry;
      const auto prefix = keys_of(ancestor, place.depth);
      for (const auto& entry : place.section->entries)
        if (entry.key.size() >= prefix.size() &&
            std::equal(prefix.begin(), prefix.end(), entry.key.begin()))
          after = &entry;
      return insert_entry_line(std::move(text), *place.section, after, keys, value);
    }
    case Kind::header:
      if (rest.size() > 1 && (place.section->is_element || has_header_like(document, table)))
        return insert_section(std::move(text), document, last_of()->content_end, false, table,
                              rest.back(), value);
      return insert_entry_line(std::move(text), *place.section, nullptr, rest, value);
    case Kind::implicit:
      if (rest.size() > 1)
        return insert_section(std::move(text), document, last_of()->content_end, false, table,
                              rest.back(), value);
      return insert_section(std::move(text), document, place.section->leading_begin, true, table,
                            rest.back(), value);
    default:
      break;
  }
  return Error::invalid("`" + write_keys(keys_of(ancestor, ancestor.size() > 2 ? 2 : 0)) +
                        "` is not a table, so nothing can be set below it.");
}

Result<std::string> insert(std::string text, const Document& document, const Address& path,
                           const toml::node& value) {
  for (auto length = path.size(); length-- > 0;) {
    const Address ancestor(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(length));
    const auto place = find(document, ancestor);
    if (place.kind != Kind::none)
      return insert_below(std::move(text), document, place, ancestor, path, value);
  }
  return Error::internal("A text without a root table.");  // find() always finds the root
}

std::string replace_scalar(std::string text, const Span& span, const toml::node& value) {
  auto written = write_value(value);
  const auto* as_text = value.as_string();
  const bool literal = text[span.begin] == '\'' && text.compare(span.begin, 3, "'''") != 0;
  // A file that quotes with ' goes on to do so where that can say the same.
  if (as_text && literal && std::none_of(as_text->get().begin(), as_text->get().end(), [](char c) {
        return c == '\'' || (static_cast<unsigned char>(c) < 0x20) || c == '\x7F';
      }))
    written = "'" + as_text->get() + "'";
  text.replace(span.begin, span.end - span.begin, written);
  return text;
}

Result<std::string> replace_whole(std::string text, const Address& path, const toml::node& value) {
  auto erased = erase(std::move(text), path);
  return erased ? put(std::move(*erased), path, value, nullptr) : erased;
}

Result<std::string> put_table(std::string text, const Address& path, const toml::table& value,
                              const toml::table& before) {
  if (value.empty()) return replace_whole(std::move(text), path, value);
  // New keys first: a table made by dotted keys is gone when its last one goes.
  for (const auto& [key, node] : value) {
    auto next =
        put(std::move(text), extended(path, std::string(key.str())), node, before.get(key.str()));
    if (!next) return next;
    text = std::move(*next);
  }
  for (const auto& [key, node] : before) {
    if (value.contains(key.str())) continue;
    auto next = erase(std::move(text), extended(path, std::string(key.str())));
    if (!next) return next;
    text = std::move(*next);
  }
  return text;
}

// Elements that are the same at both ends stay as they are, with their comments.
Result<std::string> put_array(std::string text, const Address& path, const toml::array& value,
                              const toml::array& before) {
  std::size_t head = 0, tail = 0;
  while (head < value.size() && head < before.size() && same(value[head], before[head])) ++head;
  while (tail + head < value.size() && tail + head < before.size() &&
         same(value[value.size() - 1 - tail], before[before.size() - 1 - tail]))
    ++tail;
  const auto change = [&](auto&& step) -> Result<std::string> {
    const auto document = scan(text);
    if (!document) return document.error();
    const auto place = find(*document, path);
    if (place.kind != Kind::entry || place.entry->value.kind != Value::Kind::array)
      return Error::unsupported("An array is not written as one.");
    return step(std::move(text), place.entry->value);
  };
  const auto old_middle = before.size() - head - tail, new_middle = value.size() - head - tail;
  const auto both = std::min(old_middle, new_middle);
  for (std::size_t i = head; i < head + both; ++i) {
    auto next = put(std::move(text), extended(path, i), value[i], before.get(i));
    if (!next) return next;
    text = std::move(*next);
  }
  for (std::size_t i = head + old_middle; i-- > head + both;) {
    auto next = change([&](std::string from, const Value& array) -> Result<std::string> {
      return remove_item(std::move(from), array, i);
    });
    if (!next) return next;
    text = std::move(*next);
  }
  for (std::size_t i = head + both; i < head + new_middle; ++i) {
    auto next = change([&](std::string from, const Value& array) -> Result<std::string> {
      return insert_item(std::move(from), array, i, write_value(value[i]));
    });
    if (!next) return next;
    text = std::move(*next);
  }
  return text;
}

// [[headers]]: element by element if there are as many as before and all are tables.
bool same_shape(const toml::node& value, const toml::node& before) {
  const auto *now = value.as_array(), *then = before.as_array();
  if (!now || !then || now->size() != then->size()) return false;
  return std::all_of(now->begin(), now->end(), [](const auto& node) { return node.is_table(); });
}

}  // namespace

Place find(const Document& document, const Address& path) {
  for (const auto& section : document.sections) {
    if (section.path.size() >= path.size() || !is_prefix(section.path, path)) continue;
    const auto place = find_in(section.entries, path, section.path.size(), section, nullptr);
    if (place.kind != Kind::none) return place;
  }
  for (const auto& section : document.sections)
    if (section.path == path) return {Kind::header, &section, nullptr, nullptr, path.size()};
  for (const auto& section : document.sections)
    if (is_prefix(path, section.path))
      return {std::holds_alternative<std::size_t>(section.path[path.size()]) ? Kind::elements
                                                                             : Kind::implicit,
              &section, nullptr, nullptr, path.size()};
  return {};
}

Result<std::string> put(std::string text, const Address& path, const toml::node& value,
                        const toml::node* before) {
  if (before && same(value, *before)) return text;
  const auto document = scan(text);
  if (!document) return document.error();
  const auto place = find(*document, path);
  if (place.kind == Kind::none) return insert(std::move(text), *document, path, value);
  const auto* old_table = before ? before->as_table() : nullptr;
  const auto* old_array = before ? before->as_array() : nullptr;
  const bool emptied = value.is_table() && value.as_table()->empty();
  if (value.is_table() && old_table && !(emptied && place.kind == Kind::entry))
    return put_table(std::move(text), path, *value.as_table(), *old_table);
  if (place.kind == Kind::entry && value.is_array() && old_array)
    return put_array(std::move(text), path, *value.as_array(), *old_array);
  if (place.kind == Kind::entry)
    return replace_scalar(std::move(text), place.entry->value.span, value);
  if (place.kind == Kind::elements && before && same_shape(value, *before)) {
    for (std::size_t i = 0; i < value.as_array()->size(); ++i) {
      auto next =
          put(std::move(text), extended(path, i), (*value.as_array())[i], old_array->get(i));
      if (!next) return next;
      text = std::move(*next);
    }
    return text;
  }
  return replace_whole(std::move(text), path, value);
}

Result<std::string> erase(std::string text, const Address& path) {
  for (;;) {
    const auto document = scan(text);
    if (!document) return document.error();
    const auto place = find(*document, path);
    if (place.kind == Kind::none) return text;
    if (place.inside) {
      const auto index = static_cast<std::size_t>(place.entry - place.inside->items.data());
      text = remove_item(std::move(text), *place.inside, index);
      if (place.inside->kind == Value::Kind::array) return text;  // the next one has its index now
    } else if (place.entry) {
      const auto begin = line_begin(text, place.entry->begin());
      text.erase(begin, line_end(text, place.entry->end()) - begin);
    } else {
      const auto first =
          std::find_if(document->sections.begin(), document->sections.end(),
                       [&](const auto& section) { return is_prefix(path, section.path); });
      text = cut_lines(std::move(text), first->leading_begin, first->content_end);
    }
  }
}

std::string cut_lines(std::string text, std::size_t begin, std::size_t end) {
  const auto blank_above = [&] {
    return begin == 0 || is_blank_line(text, line_begin(text, begin - 1));
  };
  auto next = end;
  while (next < text.size() && is_blank_line(text, next)) next = line_end(text, next);
  if (blank_above() || next == text.size()) end = next;
  if (end >= text.size())
    while (begin > 0 && blank_above()) begin = line_begin(text, begin - 1);
  text.erase(begin, end - begin);
  return text;
}

}  // namespace muster::rules::syntax
