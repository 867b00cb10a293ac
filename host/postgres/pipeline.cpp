#include "host/postgres/pipeline.hpp"

#include <cstring>

#include "host/postgres/errors.hpp"

namespace muster::postgres {
namespace {

// Answers are taken in while statements still go out, or both sides would wait for the other to
// read.
constexpr std::size_t statements_between_flushes = 64;

}  // namespace

Result<void> Pipeline::begin() {
  return sent(PQenterPipelineMode(connection_.handle()));
}

Result<void> Pipeline::sent(int accepted) {
  if (accepted == 0) return connection_.failure();
  if (++unflushed_ < statements_between_flushes) return {};
  return flush();
}

Result<void> Pipeline::flush() {
  unflushed_ = 0;
  for (;;) {
    const int left = PQflush(connection_.handle());
    if (left == 0) return {};
    if (left < 0) return connection_.failure();
    if (auto waited = connection_.wait(true, deadline_); !waited) return waited;
  }
}

Result<void> Pipeline::send(const StatementKey& key, Parameters parameters) {
  PGconn* handle = connection_.handle();
  const auto [name, made] = connection_.prepared(key);
  if (made)
    if (auto accepted = sent(PQsendPrepare(handle, name.c_str(), sql_of(key).c_str(), 0, nullptr));
        !accepted)
      return accepted;
  const auto values = pointers_to(parameters);
  return sent(PQsendQueryPrepared(handle, name.c_str(), static_cast<int>(values.size()),
                                  values.data(), nullptr, nullptr, 0));
}

Result<void> Pipeline::send(const std::string& sql, Parameters parameters) {
  const auto values = pointers_to(parameters);
  return sent(PQsendQueryParams(connection_.handle(), sql.c_str(), static_cast<int>(values.size()),
                                nullptr, values.data(), nullptr, nullptr, 0));
}

Result<void> Pipeline::finish() {
  PGconn* handle = connection_.handle();
  if (PQpipelineSync(handle) == 0) return connection_.failure();
  if (auto flushed = flush(); !flushed) return flushed;
  std::optional<Error> error;
  bool committed = false;
  for (;;) {
    while (PQisBusy(handle) == 1)
      if (auto waited = connection_.wait(false, deadline_); !waited) return waited;
    const ResultPointer result(PQgetResult(handle));
    if (!result) {
      if (connection_.broken()) return error ? *error : connection_.failure();
      continue;  // the end of one statement's answers
    }
    const ExecStatusType status = PQresultStatus(result.get());
    if (status == PGRES_PIPELINE_SYNC) break;
    if (status == PGRES_FATAL_ERROR && !error) error = connection_.failure(result.get());
    committed = std::strcmp(PQcmdStatus(result.get()), "COMMIT") == 0;
  }
  if (error) return *error;
  if (PQexitPipelineMode(handle) == 0) return connection_.failure();
  if (!committed)
    return Error::transient("the database " + connection_.database() + " undid the changes");
  return {};
}

}  // namespace muster::postgres
