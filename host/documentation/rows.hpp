// Documentation as the store keeps it: a row that describes the tarball, and rows that hold it in
// pieces, because a row of megabytes would hold up the others.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <muster/fields.hpp>
#include <muster/launch_types.hpp>

namespace muster::documentation {

// What is documented.
enum class Kind { pool, worker_configuration };
constexpr auto enum_names(Kind) {
  return std::array<std::string_view, 2>{"pool", "worker-configuration"};
}

struct DocumentationRow {
  static constexpr std::string_view table = "documentation";
  static constexpr std::size_t key_columns = 2;
  Kind kind = Kind::pool;
  std::string name;    // "worker-manager/build", or the id of a worker configuration
  std::string digest;  // SHA-256 of the tarball, in hexadecimal digits
  std::int64_t bytes = 0;
  std::int64_t files = 0;
  std::string project;
  std::string tier;
  std::int64_t menu_index = 0;
  Time last_modified{};
  std::string changed_by;  // the client

  static constexpr auto fields(auto visit) {
    return visit(
        required("kind", &DocumentationRow::kind), required("name", &DocumentationRow::name),
        required("digest", &DocumentationRow::digest), required("bytes", &DocumentationRow::bytes),
        required("files", &DocumentationRow::files),
        required("project", &DocumentationRow::project), required("tier", &DocumentationRow::tier),
        required("menuIndex", &DocumentationRow::menu_index),
        required("lastModified", &DocumentationRow::last_modified),
        required("changedBy", &DocumentationRow::changed_by));
  }
};

struct DocumentationPieceRow {
  static constexpr std::string_view table = "documentation_pieces";
  static constexpr std::size_t key_columns = 3;
  Kind kind = Kind::pool;
  std::string name;
  std::int64_t number = 0;
  std::string content;  // base64

  static constexpr auto fields(auto visit) {
    return visit(required("kind", &DocumentationPieceRow::kind),
                 required("name", &DocumentationPieceRow::name),
                 required("number", &DocumentationPieceRow::number),
                 required("content", &DocumentationPieceRow::content));
  }
};

}  // namespace muster::documentation
