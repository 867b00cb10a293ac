#include "host/documentation/library.hpp"

#include <algorithm>

#include <muster/enum_name.hpp>

#include "host/documentation/html.hpp"
#include "host/store/row.hpp"
#include "lib/crypto/sha256.hpp"
#include "lib/hawk/hawk.hpp"

namespace muster::documentation {
namespace {

constexpr std::size_t piece_bytes = 192 << 10;  // 256 KiB as base64
constexpr std::size_t most_rendered = 16, largest_rendered = 1 << 20;

std::vector<store::Value> key_of(const Subject& subject) {
  return {std::string(name_of(subject.kind)), subject.name};
}

Error no_documentation(const Subject& subject) {
  return Error::not_found(in_words(subject) +
                          " has no documentation; `muster docs push` puts it there");
}

// Whether a list of tags, as clients send it, has this one.
bool has_tag(std::string_view list, const std::string& digest) {
  return list.find('"' + digest + '"') != list.npos;
}

Result<void> check_condition(const Subject& subject, const Condition& condition,
                             const std::optional<DocumentationRow>& current) {
  const std::string_view match = condition.if_match, none_match = condition.if_none_match;
  const auto failed = [](std::string message) {
    return Error::invalid(std::move(message)).with_code("PreconditionFailed");
  };
  if (!match.empty()) {
    if (!current)
      return failed(in_words(subject) + " has no documentation, and If-Match asks for one");
    if (match != "*" && !has_tag(match, current->digest))
      return failed("the documentation of " + in_words(subject) + " is now \"" + current->digest +
                    "\", not what If-Match names: fetch it and try again");
  }
  if (none_match.empty() || !current) return {};
  if (none_match != "*" && !has_tag(none_match, current->digest)) return {};
  return failed(in_words(subject) + " has documentation already (\"" + current->digest +
                "\"), and If-None-Match refuses to replace it");
}

void put_pieces(store::Batch& rows, const Subject& subject, std::string_view tarball) {
  rows.emplace_back(store::erase<DocumentationPieceRow>(key_of(subject)));
  for (std::int64_t number = 0; !tarball.empty(); ++number) {
    const std::string_view piece = tarball.substr(0, piece_bytes);
    rows.emplace_back(
        store::put(DocumentationPieceRow{subject.kind, subject.name, number, hawk::base64(piece)}));
    tarball.remove_prefix(piece.size());
  }
}

const Hierarchy* pointer(const std::optional<Hierarchy>& hierarchy) {
  return hierarchy ? &*hierarchy : nullptr;
}

}  // namespace

std::string in_words(const Subject& subject) {
  return (subject.kind == Kind::pool ? "worker pool " : "worker configuration ") + subject.name;
}

Result<std::optional<DocumentationRow>> Library::current(const Subject& subject) const {
  std::optional<DocumentationRow> found;
  const auto read = store::read_rows<DocumentationRow>(
      *parts_.store, [&](DocumentationRow row) { found = std::move(row); },
      {.table = nullptr, .prefix = key_of(subject)});
  if (!read) return read.error();
  return found;
}

Result<DocumentationRow> Library::find(const Subject& subject) const {
  auto found = current(subject);
  if (!found) return found.error();
  if (!*found) return no_documentation(subject);
  return std::move(**found);
}

Result<std::vector<DocumentationRow>> Library::list() const {
  std::vector<DocumentationRow> rows;
  const auto read = store::read_rows<DocumentationRow>(
      *parts_.store, [&](DocumentationRow row) { rows.push_back(std::move(row)); });
  if (!read) return read.error();
  return rows;
}

Result<void> Library::check_room(const Subject& subject, std::size_t bytes) const {
  const auto all = list();
  if (!all) return all.error();
  std::size_t others = 0;
  auto sum = static_cast<std::int64_t>(bytes);
  for (const DocumentationRow& row : *all)
    if (row.kind != subject.kind || row.name != subject.name) ++others, sum += row.bytes;
  if (others < limits_.tarballs && sum <= limits_.bytes) return {};
  return Error::throttle(
      "there are " + std::to_string(others) + " tarballs of documentation, and " +
      std::to_string(limits_.tarballs) + " of " + std::to_string(limits_.bytes >> 20) +
      " MiB in all are the limit: `muster docs list --orphans` shows those whose "
      "subject is gone, and `muster docs delete` deletes one");
}

Result<DocumentationRow> Library::put(const Subject& subject, std::string_view tarball,
                                      const Condition& condition, const std::string& by, Time now,
                                      events::Event audit) {
  const auto hierarchy = read_tarball(tarball, limits_.tarball);
  if (!hierarchy) return hierarchy.error();
  DocumentationRow row{.kind = subject.kind,
                       .name = subject.name,
                       .digest = sha256_hex(tarball),
                       .bytes = static_cast<std::int64_t>(tarball.size()),
                       .files = static_cast<std::int64_t>(hierarchy->files.size()),
                       .project = hierarchy->metadata.project,
                       .tier = hierarchy->metadata.tier,
                       .menu_index = hierarchy->metadata.menu_index,
                       .last_modified = now,
                       .changed_by = by};
  const std::lock_guard lock(changing_);
  const auto before = current(subject);
  if (!before) return before.error();
  if (auto holds = check_condition(subject, condition, *before); !holds) return holds.error();
  if (auto room = check_room(subject, tarball.size()); !room) return room.error();
  audit.details["digest"] = row.digest;
  store::Batch rows;
  put_pieces(rows, subject, tarball);
  rows.emplace_back(store::put(row));
  if (auto kept = parts_.commit(std::move(rows), std::move(audit)); !kept) return kept.error();
  return row;
}

Result<void> Library::remove(const Subject& subject, const Condition& condition,
                             events::Event audit) {
  const std::lock_guard lock(changing_);
  const auto before = current(subject);
  if (!before) return before.error();
  if (auto holds = check_condition(subject, condition, *before); !holds) return holds.error();
  if (!*before) return no_documentation(subject);
  audit.details["digest"] = (*before)->digest;
  return parts_.commit({store::erase<DocumentationRow>(key_of(subject)),
                        store::erase<DocumentationPieceRow>(key_of(subject))},
                       std::move(audit));
}

// The description and the pieces are read one after the other: a change between them makes a
// mixture, which its digest shows.
Result<Tarball> Library::tarball(const Subject& subject) const {
  for (int attempt = 0; attempt < 3; ++attempt) {
    auto row = find(subject);
    if (!row) return row.error();
    Tarball found{std::move(*row), {}};
    const auto read = store::read_rows<DocumentationPieceRow>(
        *parts_.store,
        [&](const DocumentationPieceRow& piece) -> Result<void> {
          auto bytes = hawk::from_base64(piece.content);
          if (!bytes) return bytes.error();
          found.bytes += *bytes;
          return {};
        },
        {.table = nullptr, .prefix = key_of(subject)});
    if (!read) return read.error();
    if (sha256_hex(found.bytes) == found.row.digest) return found;
  }
  return Error::internal("the store has lost a part of the documentation of " + in_words(subject) +
                         ": push it again");
}

Result<Library::Documents> Library::documents(const Subject& subject,
                                              const std::string& configuration_id) const {
  Documents found;
  const auto take = [&](const Subject& of, std::optional<Hierarchy>& out) -> Result<void> {
    found.tag += found.tag.empty() ? "" : "-";
    const auto bytes = tarball(of);
    if (!bytes && bytes.error().error_class == ErrorClass::not_found) return {};
    if (!bytes) return bytes.error();
    auto hierarchy = read_tarball(bytes->bytes, limits_.tarball);
    if (!hierarchy) return hierarchy.error();
    out = std::move(*hierarchy);
    found.tag += bytes->row.digest;
    return {};
  };
  if (auto taken = take(subject, found.own); !taken) return taken.error();
  if (!configuration_id.empty())
    if (auto taken = take({Kind::worker_configuration, configuration_id}, found.general); !taken)
      return taken.error();
  if (!found.own && !found.general) return no_documentation(subject);
  return found;
}

Result<Shown> Library::markdown(const Subject& subject, const std::string& configuration_id) const {
  const auto found = documents(subject, configuration_id);
  if (!found) return found.error();
  return Shown{merged_markdown(pointer(found->own), pointer(found->general)), found->tag + "-md"};
}

Result<Shown> Library::html(const Subject& subject, const std::string& configuration_id,
                            const std::string& configuration_files) {
  const auto found = documents(subject, configuration_id);
  if (!found) return found.error();
  const std::string tag = found->tag + "-html";
  const std::lock_guard lock(rendering_);
  if (const auto known = std::ranges::find(rendered_, tag, &Shown::tag); known != rendered_.end()) {
    rendered_.splice(rendered_.begin(), rendered_, known);
    return *known;
  }
  Shown made{rendered_html(pointer(found->own), pointer(found->general), configuration_files), tag};
  if (made.text.size() <= largest_rendered) rendered_.push_front(made);
  if (rendered_.size() > most_rendered) rendered_.pop_back();
  return made;
}

}  // namespace muster::documentation
