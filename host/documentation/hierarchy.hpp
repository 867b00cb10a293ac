// The hierarchy of files that taskcluster-lib-docs knows: metadata.json, README.md, docs/**,
// schemas/** and references/**.
//
// Pure functions. THREADS: any.
#pragma once

#include <cstdint>
#include <string>

#include "host/documentation/tarball.hpp"

namespace muster::documentation {

struct Metadata {
  std::string project;
  std::string tier;  // one of six
  std::int64_t menu_index = 0;
};

struct Hierarchy {
  Metadata metadata;
  Files files;  // metadata.json among them
};

// Fails as `invalid` with the path and what to do.
Result<Hierarchy> check_hierarchy(Files files, const Limits& limits = {});

// unpack() and check_hierarchy().
Result<Hierarchy> read_tarball(std::string_view tarball, const Limits& limits = {});

bool is_markdown(std::string_view path);

}  // namespace muster::documentation
