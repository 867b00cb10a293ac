// The files of the dashboard, which the program carries inside.
#pragma once

#include <span>
#include <string_view>

namespace muster::api {

struct WebFile {
  std::string_view name;  // "dashboard-0123456789abcdef.js"; empty: the page itself
  std::string_view content_type;
  std::string_view gzip;  // its content, compressed
  bool unchanging;        // the name has a digest of the content
};

// The page comes first. Made by web/build.mjs.
std::span<const WebFile> web_files();

}  // namespace muster::api
