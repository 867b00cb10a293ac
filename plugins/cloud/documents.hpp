// JSON files of a plugin's folder that it carries inside: muster_embed_documents() of CMake makes a
// source file of them, which defines the plugin's `documents`:
//
//   namespace muster::aws {
//   extern const cloud::Documents documents;
//   }
#pragma once

#include <span>
#include <string_view>

#include <muster/json.hpp>

namespace muster::cloud {

// THREADS: any; it does not change.
class Documents {
 public:
  struct File {
    std::string_view name, text;
  };
  explicit constexpr Documents(std::span<const File> files) : files_(files) {}

  // By the file's name without its end: "errors". A name that is not there is a bug and throws.
  std::string_view text(std::string_view name) const;
  json::value read(std::string_view name) const;

 private:
  std::span<const File> files_;
};

}  // namespace muster::cloud
