// Where the host keeps what it must not lose. Rows go in by batches, all or nothing, and come out
// by scans along their key; the parts that decide know no SQL, so that another database is another
// class.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <muster/error.hpp>

#include "host/store/set_aside.hpp"

namespace muster::store {

using Value = std::variant<std::monostate, std::int64_t, double, std::string>;

enum class ColumnType { integer, real, text };

struct Column {
  std::string_view name;
  ColumnType type;
};

// The first `key_columns` columns are the key; rows are ordered by them.
struct Table {
  std::string_view name;
  std::span<const Column> columns;
  std::size_t key_columns;
};

// Inserts, or replaces the row of the same key.
struct Put {
  const Table* table;
  std::vector<Value> row;
};

// All rows whose key begins with these values.
struct Erase {
  const Table* table;
  std::vector<Value> key;
};

// All rows whose integer column is smaller.
struct EraseBelow {
  const Table* table;
  std::string_view column;
  std::int64_t bound;
};

using Change = std::variant<Put, Erase, EraseBelow>;

// In this order; durable together or not at all.
using Batch = std::vector<Change>;

struct Scan {
  const Table* table;
  std::vector<Value> prefix = {};    // of the key
  std::optional<Value> beyond = {};  // only keys whose next column is past this, in the order
  bool backwards = false;            // the largest key first
  std::optional<std::size_t> limit = {};
};

// Returns false to end the scan. The values are valid during the call only.
using RowSink = std::function<bool(std::span<const Value>)>;

using SetAside = RowsSetAside<Value>;

class Store {
 public:
  virtual ~Store() = default;

  // Rows that read_rows() could not read. THREADS: any.
  SetAside& set_aside() const { return set_aside_; }

  // Returns when the batch is durable. After an error nothing of it is there, and the same batch
  // may be tried again. Error::capacity: the disk is full. Error::internal: the database is
  // damaged. THREADS: one at a time.
  virtual Result<void> commit(const Batch& batch) = 0;

  // Sees all that was committed before it began. THREADS: any.
  virtual Result<void> scan(const Scan& scan, const RowSink& sink) const = 0;

  // What an operator should know about it though it works; empty: nothing. THREADS: any.
  virtual std::string notice() const { return {}; }

  // A consistent copy into a new file while commits go on, read back and verified. THREADS: any.
  virtual Result<void> backup(const std::string& file) const = 0;

 private:
  mutable SetAside set_aside_;
};

}  // namespace muster::store
