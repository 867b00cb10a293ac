// Where everything stands in a TOML text, in bytes. toml++ tells what a text means; this tells
// which bytes say so, down to commas and the comments that belong to a table. It is read from texts
// that toml++ has accepted, so it does not repeat TOML's checks; it never reads outside the text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <muster/error.hpp>

namespace muster::rules::syntax {

constexpr std::size_t npos = static_cast<std::size_t>(-1);

struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// A step into a document: a table's key or an array's index. An address leads from the root.
using Step = std::variant<std::string, std::size_t>;
using Address = std::vector<Step>;

bool is_prefix(const Address& prefix, const Address& path);

struct Entry;

struct Value {
  enum class Kind { scalar, array, table };
  Kind kind = Kind::scalar;
  Span span;
  std::vector<Entry> items;  // elements of an array, entries of an inline table
};

// `key = value`; an array's element has no key.
struct Entry {
  std::vector<std::string> key;
  Span key_span;
  Value value;
  std::size_t comma = npos;  // of the comma that follows, if one does

  std::size_t begin() const { return key.empty() ? value.span.begin : key_span.begin; }
  std::size_t end() const { return value.span.end; }
};

// The part of the text under one header. The first section is the root's and has no header.
struct Section {
  Address path;
  bool is_element = false;        // [[header]]
  std::size_t leading_begin = 0;  // of the comment lines right above the header, or its own line
  std::size_t header_begin = 0;   // of the header's line
  std::size_t body_begin = 0;     // of the line after it
  std::size_t content_end = 0;    // after the last entry's line and the comments right below it
  std::size_t end = 0;            // where the next section's comments or header begin
  std::vector<Entry> entries;
  bool has_comments = false;  // in it, beside or right above its header
};

struct Document {
  std::vector<Section> sections;
};

// The text must end with a line end. Fails as `unsupported` on what it cannot follow.
Result<Document> scan(std::string_view text);

// Lines, for those who insert and remove them.
std::size_t line_begin(std::string_view text, std::size_t position);
std::size_t line_end(std::string_view text, std::size_t position);  // after its "\n"
bool is_blank_line(std::string_view text, std::size_t begin);
bool is_comment_line(std::string_view text, std::size_t begin);
// The line end that the text uses first.
std::string_view line_break(std::string_view text);

// A key as TOML writes it, quoted if it must be.
std::string write_key(std::string_view key);
std::string write_keys(const std::vector<std::string>& keys);

}  // namespace muster::rules::syntax
