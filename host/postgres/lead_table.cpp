#include "host/postgres/lead_table.hpp"

#include "host/postgres/connection.hpp"
#include "host/postgres/errors.hpp"
#include "host/postgres/lead_row.hpp"
#include "host/postgres/schema.hpp"

namespace muster::postgres {
namespace {

using leadership::HostEntry;
using leadership::Lead;
using std::chrono::milliseconds;

std::string text_of(milliseconds time) {
  return std::to_string(time.count());
}

// An epoch is also what providers see, and never less than the time in seconds: so it grows even if
// the database is set back.
constexpr const char* acquire_lead =
    "UPDATE muster_lead SET epoch = greatest(epoch + 1, "
    "floor(extract(epoch FROM clock_timestamp()))::bigint), holder = $1, address = $2, "
    "expires = clock_timestamp() + $3::bigint * interval '1 millisecond' "
    "WHERE id = 1 AND expires <= clock_timestamp() RETURNING epoch";
constexpr const char* renew_lead =
    "UPDATE muster_lead SET expires = clock_timestamp() + $2::bigint * interval '1 millisecond' "
    "WHERE id = 1 AND epoch = $1::bigint RETURNING epoch";
constexpr const char* release_lead =
    "UPDATE muster_lead SET expires = 'epoch' WHERE id = 1 AND epoch = $1::bigint";
// A host notes itself every few seconds, so one of the same name that was silent for longer than
// that is gone.
constexpr const char* note_host =
    "INSERT INTO muster_hosts AS known (holder, address, version, problem, seen, place, lag) "
    "VALUES "
    "($1, $2, $3, $4, clock_timestamp(), $5, $6::bigint) ON CONFLICT (holder) DO UPDATE SET "
    "address = excluded.address, version = excluded.version, problem = excluded.problem, "
    "seen = excluded.seen, place = excluded.place, lag = excluded.lag "
    "WHERE known.place IN ('', excluded.place) OR "
    "known.seen < clock_timestamp() - $7::bigint * interval '1 millisecond'";
// One that was stopped in the middle of a commit holds the row as long as its connection lives.
constexpr const char* end_old_sessions =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND "
    "usename = current_user AND pid <> pg_backend_pid() AND application_name = $1";

class PostgresLeadTable final : public leadership::LeaseTable {
 public:
  PostgresLeadTable(ConnectionSettings settings, milliseconds silence)
      : settings_(std::move(settings)), silence_(silence) {}

  Result<Lead> look(const HostEntry& self) override {
    return asked<Lead>([&](Connection& connection) -> Result<Lead> {
      const std::optional<std::string> values[] = {
          self.name,        self.address,
          self.version,     self.problem,
          self.place,       self.lag ? std::optional(text_of(*self.lag)) : std::nullopt,
          text_of(silence_)};
      const auto noted = connection.run(note_host, values);
      if (!noted) return noted.error();
      if (std::string_view(PQcmdTuples(noted->get())) == "0")
        return Error::config("another host is called " + self.name +
                             ": give each one a hosts.name of its own");
      auto row = read_lead_row(connection);
      if (!row) return row.error();
      return Lead{row->epoch, std::move(row->holder), std::move(row->address), row->left,
                  row->number};
    });
  }

  Result<std::optional<std::int64_t>> acquire(const HostEntry& self, milliseconds length) override {
    using Epoch = std::optional<std::int64_t>;
    return asked<Epoch>([&](Connection& connection) -> Result<Epoch> {
      if (!self.problem.empty()) return Error::config(self.problem);
      const auto row = read_lead_row(connection);
      if (!row) return row.error();
      if (row->left.count() > 0) return Epoch();
      const std::optional<std::string> old[] = {application_name(row->holder)};
      if (!row->holder.empty())
        if (auto ended = connection.run(end_old_sessions, old); !ended) return ended.error();
      const std::optional<std::string> values[] = {self.name, self.address, text_of(length)};
      const auto got = connection.run(acquire_lead, values);
      if (!got) return got.error();
      return PQntuples(got->get()) == 1 ? Epoch(number_field(*got, 0)) : Epoch();
    });
  }

  Result<bool> renew(std::int64_t epoch, milliseconds length) override {
    return asked<bool>([&](Connection& connection) -> Result<bool> {
      const std::optional<std::string> values[] = {std::to_string(epoch), text_of(length)};
      const auto got = connection.run(renew_lead, values);
      if (!got) return got.error();
      return PQntuples(got->get()) == 1;
    });
  }

  Result<void> release(std::int64_t epoch) override {
    const auto released = asked<bool>([&](Connection& connection) -> Result<bool> {
      const std::optional<std::string> values[] = {std::to_string(epoch)};
      if (auto got = connection.run(release_lead, values); !got) return got.error();
      return true;
    });
    if (!released) return released.error();
    return {};
  }

  Result<std::vector<HostEntry>> hosts() override {
    using Hosts = std::vector<HostEntry>;
    return asked<Hosts>([](Connection& connection) -> Result<Hosts> {
      const auto found = connection.run(
          "SELECT holder, address, version, problem, floor(extract(epoch FROM clock_timestamp() - "
          "seen) * 1000)::bigint, lag FROM muster_hosts WHERE seen > clock_timestamp() - interval "
          "'1 "
          "day' ORDER BY holder");
      if (!found) return found.error();
      Hosts hosts;
      for (int row = 0; row < PQntuples(found->get()); ++row)
        hosts.push_back({.name = field(*found, 0, row),
                         .address = field(*found, 1, row),
                         .version = field(*found, 2, row),
                         .problem = field(*found, 3, row),
                         .seen_ago = milliseconds(number_field(*found, 4, row)),
                         .lag = PQgetisnull(found->get(), row, 5) != 0
                                    ? std::nullopt
                                    : std::optional(milliseconds(number_field(*found, 5, row)))});
      return hosts;
    });
  }

 private:
  // After any failure the connection is made anew: it may lead to another server then.
  template <class T, class Ask>
  Result<T> asked(Ask ask) {
    if (!connection_) {
      auto opened = Connection::open(settings_);
      if (!opened) return opened.error();
      if (auto made = make_host_tables(**opened); !made) return made.error();
      connection_ = std::move(*opened);
    }
    Result<T> answer = ask(*connection_);
    if (!answer) connection_.reset();
    return answer;
  }

  const ConnectionSettings settings_;
  const milliseconds silence_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace

std::unique_ptr<leadership::LeaseTable> lead_table(ConnectionSettings settings,
                                                   milliseconds silence) {
  return std::make_unique<PostgresLeadTable>(std::move(settings), silence);
}

}  // namespace muster::postgres
