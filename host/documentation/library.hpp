// All documentation of the host: kept in the store and in no memory, so that another host that
// takes over has it too.
#pragma once

#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "host/documentation/hierarchy.hpp"
#include "host/documentation/rows.hpp"
#include "host/events/model/event.hpp"
#include "host/store/store.hpp"

namespace muster::documentation {

struct Subject {
  Kind kind = Kind::pool;
  std::string name;
};
// "worker pool worker-manager/build"
std::string in_words(const Subject& subject);

// The headers of a request, empty if it has none. A change whose condition does not hold fails
// with the code "PreconditionFailed".
struct Condition {
  std::string if_match = {}, if_none_match = {};
};

struct LibraryLimits {
  Limits tarball = {};
  std::size_t tarballs = 2000;
  std::int64_t bytes = std::int64_t{256} << 20;  // of all tarballs, compressed
};

struct Tarball {
  DocumentationRow row;
  std::string bytes;
};

// What is shown, and the tag of its version.
struct Shown {
  std::string text;
  std::string tag;
};

// THREADS: any that may wait. Changes return when they are durable.
class Library {
 public:
  struct Parts {
    const store::Store* store = nullptr;  // borrowed
    // Makes the rows durable together with the event of the audit log.
    std::function<Result<void>(store::Batch, events::Event)> commit;
  };
  explicit Library(Parts parts, LibraryLimits limits = {})
      : parts_(std::move(parts)), limits_(limits) {}

  // Checks the tarball and puts it in the place of the one before. Errors: `invalid` (code
  // "InputTooLarge" for sizes), "PreconditionFailed", those of the store.
  Result<DocumentationRow> put(const Subject& subject, std::string_view tarball,
                               const Condition& condition, const std::string& by, Time now,
                               events::Event audit);
  // `notFound`: there is none.
  Result<void> remove(const Subject& subject, const Condition& condition, events::Event audit);

  Result<std::vector<DocumentationRow>> list() const;
  Result<DocumentationRow> find(const Subject& subject) const;
  // `internal`: what the store holds is not what was put.
  Result<Tarball> tarball(const Subject& subject) const;

  // The pages of a subject, and for a worker pool those of its worker configuration, if it has one,
  // behind them. `notFound`: neither has documentation.
  Result<Shown> markdown(const Subject& subject, const std::string& configuration_id = {}) const;
  // `configuration_files` is where the files of the worker configuration are.
  Result<Shown> html(const Subject& subject, const std::string& configuration_id = {},
                     const std::string& configuration_files = {});

 private:
  struct Documents {
    std::optional<Hierarchy> own, general;
    std::string tag;
  };
  Result<std::optional<DocumentationRow>> current(const Subject& subject) const;
  Result<void> check_room(const Subject& subject, std::size_t bytes) const;
  Result<Documents> documents(const Subject& subject, const std::string& configuration_id) const;

  const Parts parts_;
  const LibraryLimits limits_;
  std::mutex changing_;
  // Rendering can take a second: one at a time, so that readers keep no threads from others.
  std::mutex rendering_;
  std::list<Shown> rendered_;  // the newest first
};

}  // namespace muster::documentation
