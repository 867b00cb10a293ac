// As much of RFC 3986 as references between schemas and the URI formats need.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace muster::json::schema_detail {

struct Uri {  // the five parts of RFC 3986, without their delimiters
  std::optional<std::string> scheme;
  std::optional<std::string> authority;
  std::string path;
  std::optional<std::string> query;
  std::optional<std::string> fragment;
};

Uri split_uri(std::string_view text);
std::string join_uri(const Uri& uri);

// What `reference` means in a document whose address is `base`, which may be empty.
std::string resolve_uri(std::string_view base, std::string_view reference);

// %41 becomes A; a broken escape stays as it is.
std::string percent_decoded(std::string_view text);

enum class UriKind { uri, uri_reference, iri, iri_reference };
bool is_uri(std::string_view text, UriKind kind);
bool is_uri_template(std::string_view text);

}  // namespace muster::json::schema_detail
