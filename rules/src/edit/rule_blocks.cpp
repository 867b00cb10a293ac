#include "rule_blocks.hpp"

#include <utility>

#include <muster/rules/edit.hpp>

#include "surgery.hpp"

namespace muster::rules::syntax {
namespace {

const Address rules_address = {std::string("rules")};

// The lines of one rule.
Result<Span> block_of(const Document& document, std::size_t index) {
  const Address rule = {std::string("rules"), index};
  const Section *first = nullptr, *last = nullptr;
  for (const auto& section : document.sections) {
    if (!is_prefix(rule, section.path)) continue;
    if (last && &section != last + 1)
      return Error::unsupported(
          "The rule is not written in one piece: another table is between its parts. Edit it "
          "by "
          "hand.");
    if (!first) first = &section;
    last = &section;
  }
  if (!first) return Error::internal("The rule was not found in the text.");
  return Span{first->leading_begin, last->content_end};
}

bool blank_between_rules(std::string_view text, const Document& document) {
  bool first = true;
  for (const auto& section : document.sections) {
    if (!section.is_element || section.path.size() != 2 || section.leading_begin == 0) continue;
    if (is_blank_line(text, line_begin(text, section.leading_begin - 1))) return true;
    if (!std::exchange(first, false)) return false;
  }
  return true;
}

Result<std::string> insert_block(std::string text, const std::string& block, Slot slot,
                                 std::size_t count) {
  const auto document = scan(text);
  if (!document) return document.error();
  const std::string blank(blank_between_rules(text, *document) ? line_break(text) : "");
  const bool at_end = slot.index >= count;
  if (!at_end && !(slot.after_previous && slot.index > 0)) {
    const auto next = block_of(*document, slot.index);
    if (!next) return next.error();
    return text.insert(next->begin, block + blank);
  }
  auto position = text.size();
  if (count > 0) {
    const auto previous = block_of(*document, at_end ? count - 1 : slot.index - 1);
    if (!previous) return previous.error();
    position = previous->end;
  }
  const bool needs_blank = position > 0 && !is_blank_line(text, line_begin(text, position - 1));
  return text.insert(position, (needs_blank ? blank : "") + block);
}

// The inline array `rules = [...]`, null if the rules have headers or there are none.
Result<const Value*> inline_rules(const Document& document) {
  const auto place = find(document, rules_address);
  if (place.kind == Place::Kind::none || place.kind == Place::Kind::elements) return nullptr;
  if (place.kind == Place::Kind::entry && place.entry->value.kind == Value::Kind::array)
    return &place.entry->value;
  return Error::invalid("`rules` is not an array of tables.");
}

}  // namespace

Result<std::string> add_rule(std::string text, Slot slot, std::size_t count,
                             const std::string& rule_id, const std::string& description) {
  const auto document = scan(text);
  if (!document) return document.error();
  const auto array = inline_rules(*document);
  if (!array) return array.error();
  std::string id = "ruleId = " + toml_string(rule_id);
  std::string words = "description = " + toml_string(description);
  if (*array)
    return insert_item(std::move(text), **array, slot.index, "{ " + id + ", " + words + " }");
  const std::string nl(line_break(text));
  return insert_block(std::move(text), "[[rules]]" + nl + id + nl + words + nl, slot, count);
}

Result<std::string> remove_rule(std::string text, std::size_t index) {
  const auto document = scan(text);
  if (!document) return document.error();
  const auto array = inline_rules(*document);
  if (!array) return array.error();
  if (*array) return remove_item(std::move(text), **array, index);
  const auto block = block_of(*document, index);
  if (!block) return block.error();
  return cut_lines(std::move(text), block->begin, block->end);
}

Result<std::string> move_rule(std::string text, std::size_t from, Slot to, std::size_t count) {
  const auto document = scan(text);
  if (!document) return document.error();
  const auto array = inline_rules(*document);
  if (!array) return array.error();
  if (*array) return move_item(std::move(text), **array, from, to.index);
  const auto span = block_of(*document, from);
  if (!span) return span.error();
  const auto block = text.substr(span->begin, span->end - span->begin);
  auto without = remove_rule(std::move(text), from);
  if (!without) return without;
  return insert_block(std::move(*without), block, to, count - 1);
}

}  // namespace muster::rules::syntax
