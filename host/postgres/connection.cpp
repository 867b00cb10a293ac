#include "host/postgres/connection.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <poll.h>
#include <utility>

#include "host/postgres/errors.hpp"
#include "lib/base/secret_file.hpp"

namespace muster::postgres {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct OptionsDeleter {
  void operator()(PQconninfoOption* options) const { PQconninfoFree(options); }
};
using Options = std::unique_ptr<PQconninfoOption, OptionsDeleter>;

Options parse(const std::string& address) {
  char* message = nullptr;
  Options options(PQconninfoParse(address.c_str(), &message));
  PQfreemem(message);
  return options;
}

std::string option(const Options& options, std::string_view keyword) {
  for (const PQconninfoOption* one = options.get(); one && one->keyword; ++one)
    if (keyword == one->keyword && one->val) return one->val;
  return {};
}

bool is_this_machine(std::string_view host) {
  return host.empty() || host.starts_with('/') || host == "localhost" || host == "127.0.0.1" ||
         host == "::1";
}

bool all_on_this_machine(std::string_view hosts) {
  while (true) {
    const auto comma = hosts.find(',');
    if (!is_this_machine(hosts.substr(0, comma))) return false;
    if (comma == std::string_view::npos) return true;
    hosts.remove_prefix(comma + 1);
  }
}

std::string seconds_text(milliseconds time) {
  return std::to_string(
      std::max<std::int64_t>(2, std::chrono::ceil<std::chrono::seconds>(time).count()));
}

// What the address does not say, then the address, then what it must not say otherwise.
PGconn* connect(const ConnectionSettings& settings, const std::string& password) {
  const std::string timeout = seconds_text(settings.connect_timeout);
  const std::string silence = std::to_string(settings.statement_timeout.count());
  std::vector<const char*> keys{
      "connect_timeout",  "target_session_attrs", "keepalives_idle", "keepalives_interval",
      "keepalives_count", "tcp_user_timeout",     "dbname",          "application_name",
      "client_encoding"};
  std::vector<const char*> values{timeout.c_str(),
                                  "read-write",
                                  "5",
                                  "2",
                                  "3",
                                  silence.c_str(),
                                  settings.address.c_str(),
                                  settings.application_name.c_str(),
                                  "UTF8"};
  if (!password.empty()) {
    keys.push_back("password");
    values.push_back(password.c_str());
  }
  keys.push_back(nullptr);
  values.push_back(nullptr);
  return PQconnectdbParams(keys.data(), values.data(), 1);
}

// libpq has no SQLSTATE for a connection that was not made: its words tell what an operator must
// correct from what passes.
Error not_connected(PGconn* handle, const std::string& database) {
  std::string text = PQerrorMessage(handle);
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (text.ends_with(' ')) text.pop_back();
  const auto says = [&](std::string_view words) { return text.find(words) != std::string::npos; };
  const std::string sentence = "the database " + database + " cannot be reached: " + text;
  if (says("session is read-only") || says("is in hot standby mode"))
    return Error::transient(sentence + ". Name all servers in the address")
        .with_code(std::string(read_only_server));
  const bool refused = says("password authentication failed") || says("no password supplied") ||
                       says("no pg_hba.conf entry") || says("does not exist") ||
                       says("certificate verify failed") || says("does not match host name") ||
                       says("server does not support SSL") || says("authentication failed for");
  if (refused && !says("No such file"))
    return Error::config(sentence + ": check the address, the password, and the certificates");
  return Error::transient(sentence).with_code(std::string(connection_lost));
}

std::string described(PGconn* handle, const ConnectionSettings& settings) {
  const auto text = [](const char* words) { return std::string(words ? words : ""); };
  const std::string host = text(PQhost(handle)), name = text(PQdb(handle));
  if (!host.empty()) return name + " on " + host + ":" + text(PQport(handle));
  const Options options = parse(settings.address);
  return option(options, "dbname") + " on " + option(options, "host");
}

}  // namespace

std::string mistake_in_address(const std::string& address) {
  const Options options = parse(address);
  // What libpq says of it repeats the address, and a password may be in that.
  if (!options) return "it cannot be understood; write postgresql://user@host/database";
  if (option(options, "dbname").empty())
    return "it names no database: postgresql://user@host/database";
  return {};
}

std::string warning_about_address(const std::string& address) {
  const Options options = parse(address);
  if (!options) return {};
  if (!option(options, "password").empty())
    return "the password is in the address: move it into a file and name that in "
           "store.passwordFile";
  const std::string mode = option(options, "sslmode");
  const bool elsewhere = !all_on_this_machine(option(options, "host"));
  if (elsewhere && mode != "verify-full")
    return "the server's certificate is not checked: add sslmode=verify-full (and "
           "sslrootcert=FILE)";
  return {};
}

Connection::Connection(PGconn* handle, ConnectionSettings settings)
    : handle_(handle), settings_(std::move(settings)), database_(described(handle, settings_)) {}

Connection::~Connection() {
  PQfinish(handle_);
}

Result<std::unique_ptr<Connection>> Connection::open(const ConnectionSettings& settings) {
  if (const std::string mistake = mistake_in_address(settings.address); !mistake.empty())
    return Error::config("the address of the database is wrong: " + mistake);
  std::string password;
  if (!settings.password_file.empty()) {
    const auto secret = read_secret_file(settings.password_file, "the password of the database");
    if (!secret) return secret.error();
    password = secret->reveal();
  }
  std::unique_ptr<Connection> made(new Connection(connect(settings, password), settings));
  std::fill(password.begin(), password.end(), '\0');
  if (PQstatus(made->handle_) != CONNECTION_OK)
    return not_connected(made->handle_, made->database_);
  constexpr int least = 120000;
  if (const int version = PQserverVersion(made->handle_); version < least)
    return Error::config("the database " + made->database_ + " is PostgreSQL " +
                         std::to_string(version / 10000) + "; version 12 or newer is needed");
  if (auto prepared = made->prepare_session(); !prepared) return prepared.error();
  return made;
}

Result<void> Connection::prepare_session() {
  PQsetnonblocking(handle_, 1);
  const std::string limit = std::to_string(settings_.statement_timeout.count());
  const auto set = run("SET statement_timeout = " + limit + "; SET lock_timeout = " + limit +
                       "; SET idle_in_transaction_session_timeout = " + limit +
                       "; SET default_transaction_isolation = 'read committed'"
                       "; SET extra_float_digits = 1; SET client_min_messages = warning");
  if (!set) return set.error();
  return {};
}

steady_clock::time_point Connection::deadline() const {
  // The server gives up first, and says so.
  return steady_clock::now() + settings_.statement_timeout + std::chrono::seconds(2);
}

Error Connection::failure(const PGresult* result) const {
  const char* state = result ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : nullptr;
  const char* text = result ? PQresultErrorMessage(result) : PQerrorMessage(handle_);
  return error_of(
      {state && !broken() ? state : "", text && *text ? text : "the connection is lost"},
      database_);
}

Result<void> Connection::wait(bool writable, steady_clock::time_point deadline) {
  pollfd ready{PQsocket(handle_), static_cast<short>(POLLIN | (writable ? POLLOUT : 0)), 0};
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now()).count();
    const int found = left <= 0 ? 0 : ::poll(&ready, 1, static_cast<int>(left));
    if (found < 0 && errno == EINTR) continue;
    if (found == 0)
      return Error::transient("the database " + database_ + " has not answered in time")
          .with_code(std::string(connection_lost));
    if (found < 0 || ((ready.revents & ~POLLOUT) != 0 && PQconsumeInput(handle_) == 0))
      return failure();
    return {};
  }
}

Result<ResultPointer> Connection::run(const std::string& sql, Parameters parameters) {
  const auto values = pointers_to(parameters);
  const int sent = parameters.empty()
                       ? PQsendQuery(handle_, sql.c_str())
                       : PQsendQueryParams(handle_, sql.c_str(), static_cast<int>(values.size()),
                                           nullptr, values.data(), nullptr, nullptr, 0);
  if (sent == 0) return failure();
  const auto until = deadline();
  while (PQflush(handle_) == 1)
    if (auto waited = wait(true, until); !waited) return waited.error();
  ResultPointer last;
  std::optional<Error> error;
  for (;;) {
    while (PQisBusy(handle_) == 1)
      if (auto waited = wait(false, until); !waited) return waited.error();
    ResultPointer next(PQgetResult(handle_));
    if (!next) break;
    if (PQresultStatus(next.get()) == PGRES_FATAL_ERROR && !error) error = failure(next.get());
    last = std::move(next);
    if (PQresultStatus(last.get()) == PGRES_COPY_IN) break;
  }
  if (error) return *error;
  if (!last) return failure();
  return last;
}

Connection::Prepared Connection::prepared(const StatementKey& key) {
  const auto [found, made] = statements_.try_emplace(key);
  if (made) found->second = "muster" + std::to_string(statements_.size());
  return {found->second, made};
}

Result<std::string> Connection::prepare(const StatementKey& key) {
  const auto [name, made] = prepared(key);
  if (!made) return name;
  if (PQsendPrepare(handle_, name.c_str(), sql_of(key).c_str(), 0, nullptr) == 0) return failure();
  const auto until = deadline();
  std::optional<Error> error;
  for (;;) {
    while (PQisBusy(handle_) == 1)
      if (auto waited = wait(false, until); !waited) return waited.error();
    const ResultPointer next(PQgetResult(handle_));
    if (!next) break;
    if (PQresultStatus(next.get()) == PGRES_FATAL_ERROR) error = failure(next.get());
  }
  if (!error) return name;
  statements_.erase(key);
  return *error;
}

std::vector<const char*> pointers_to(Parameters parameters) {
  std::vector<const char*> pointers;
  pointers.reserve(parameters.size());
  for (const auto& parameter : parameters)
    pointers.push_back(parameter ? parameter->c_str() : nullptr);
  return pointers;
}

std::string field(const ResultPointer& result, int column, int row) {
  if (row >= PQntuples(result.get()) || column >= PQnfields(result.get())) return {};
  return PQgetvalue(result.get(), row, column);
}

std::int64_t number_field(const ResultPointer& result, int column, int row) {
  const std::string text = field(result, column, row);
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace muster::postgres
