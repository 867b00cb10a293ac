// Where a link of a page leads: to another page that is shown with it, to a file of the same
// tarball, out into the web, or nowhere.
//
// Pure functions. THREADS: any.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "host/documentation/tarball.hpp"

namespace muster::documentation {

// The tarball that a page comes from.
struct LinkBase {
  const Files& files;
  std::string anchors;    // "docs-pool": what ids of its pages begin with
  std::string addresses;  // "files/": what addresses of its files begin with
};

// The id of a page, and of a heading in it. Both begin with the base's own word, so that no text of
// a document can take the id of something else.
std::string page_id(const LinkBase& base, std::string_view path);
std::string heading_id(const LinkBase& base, std::string_view path, std::string_view heading);

enum class LinkKind { page, image };

// For the link `url` on the page `path`; nothing: it is to be shown as plain text. Web addresses
// are http, https and mailto alone, and images come from the tarball alone.
std::optional<std::string> resolve_link(const LinkBase& base, std::string_view path,
                                        std::string_view url, LinkKind kind);

}  // namespace muster::documentation
