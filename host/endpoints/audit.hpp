// Whether what an endpoint does is an event of the audit log: who changed what. A row that is no
// GET must decide: add_routes() refuses a table with one that does not.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "host/events/model/event.hpp"

namespace muster::endpoints {

class Call;

// A value. THREADS: any.
class Audit {
 public:
  enum class Kind {
    undecided,   // only for rows that read
    written,     // the dispatcher writes the event with the change, or before the answer
    by_handler,  // the handler writes the event with the change
    exempt,      // `reason` says why
  };
  Audit() = default;

  Kind kind() const { return kind_; }
  bool is_written_by_dispatcher() const { return kind_ == Kind::written; }
  // The members of the body that the event shows. Members that are not listed are not shown: they
  // may be secrets.
  const std::vector<std::string_view>& shown() const { return shown_; }
  std::string_view reason() const { return reason_; }

 private:
  friend Audit audited(std::vector<std::string_view> shown);
  friend Audit audited_by_handler(std::vector<std::string_view> shown);
  friend Audit not_audited(std::string_view reason);

  Audit(Kind kind, std::vector<std::string_view> shown, std::string_view reason)
      : kind_(kind), shown_(std::move(shown)), reason_(reason) {}

  Kind kind_ = Kind::undecided;
  std::vector<std::string_view> shown_;
  std::string_view reason_;
};

inline Audit audited(std::vector<std::string_view> shown = {}) {
  return {Audit::Kind::written, std::move(shown), {}};
}
inline Audit audited_by_handler(std::vector<std::string_view> shown = {}) {
  return {Audit::Kind::by_handler, std::move(shown), {}};
}
inline Audit not_audited(std::string_view reason) {
  return {Audit::Kind::exempt, {}, reason};
}

// The event of a call whose checks have passed: client, address, request, what it is about, and the
// members of the body that the row shows.
events::Event audit_event(const Call& call);

}  // namespace muster::endpoints
