#include "host/store/memory_store.hpp"

#include <algorithm>
#include <bit>

#include "host/store/checks.hpp"
#include "lib/base/secret.hpp"

namespace muster::store {
namespace {

using Rows = MemoryStore::Contents::mapped_type;

bool begins_with(const std::vector<Value>& key, const std::vector<Value>& prefix) {
  return std::equal(prefix.begin(), prefix.end(), key.begin());
}

void apply(MemoryStore::Contents& contents, const Put& put) {
  std::vector<Value> key(put.row.begin(),
                         put.row.begin() + static_cast<std::ptrdiff_t>(put.table->key_columns));
  contents[std::string(put.table->name)].insert_or_assign(
      std::move(key), std::make_shared<const MemoryStore::Row>(put.row));
}

void apply(MemoryStore::Contents& contents, const Erase& erase) {
  Rows& rows = contents[std::string(erase.table->name)];
  const auto first = rows.lower_bound(erase.key);  // a prefix is smaller than what it begins
  auto last = first;
  while (last != rows.end() && begins_with(last->first, erase.key)) ++last;
  rows.erase(first, last);
}

void apply(MemoryStore::Contents& contents, const EraseBelow& erase) {
  const std::size_t column = *index_of(*erase.table, erase.column);
  std::erase_if(contents[std::string(erase.table->name)], [&](const auto& entry) {
    const auto* number = std::get_if<std::int64_t>(&(*entry.second)[column]);
    return number && *number < erase.bound;
  });
}

// In the order of the scan, before its limit.
bool wanted(const Scan& scan, const std::vector<Value>& key) {
  if (!begins_with(key, scan.prefix)) return false;
  if (!scan.beyond) return true;
  const Value& next = key[scan.prefix.size()];
  return scan.backwards ? next < *scan.beyond : next > *scan.beyond;
}

using Found = std::vector<std::shared_ptr<const MemoryStore::Row>>;

Found find(const Rows& rows, const Scan& scan) {
  // From `from` on no key is smaller than what is wanted; the first that does not begin with the
  // prefix ends it.
  std::vector<Value> from = scan.prefix;
  if (scan.beyond && !scan.backwards) from.push_back(*scan.beyond);
  Found found;
  for (auto row = rows.lower_bound(from); row != rows.end(); ++row) {
    if (!begins_with(row->first, scan.prefix)) break;
    if (!scan.backwards && scan.limit && found.size() >= *scan.limit) break;
    if (wanted(scan, row->first)) found.push_back(row->second);
  }
  if (scan.backwards) std::reverse(found.begin(), found.end());
  if (scan.limit && found.size() > *scan.limit) found.resize(*scan.limit);
  return found;
}

void append(std::string& bytes, std::uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<char>(number >> shift));
}

void append(std::string& bytes, std::string_view text) {
  append(bytes, text.size());
  bytes += text;
}

void append(std::string& bytes, const Value& value) {
  bytes.push_back(static_cast<char>(value.index()));
  if (const auto* number = std::get_if<std::int64_t>(&value))
    append(bytes, static_cast<std::uint64_t>(*number));
  if (const auto* real = std::get_if<double>(&value))
    append(bytes, std::bit_cast<std::uint64_t>(*real));
  if (const auto* text = std::get_if<std::string>(&value)) append(bytes, std::string_view(*text));
}

}  // namespace

Result<void> MemoryStore::commit(const Batch& batch) {
  if (const auto fits = check(batch); !fits) return fits;
  const std::lock_guard guard(mutex_);
  for (const Change& change : batch)
    std::visit([&](const auto& one) { apply(contents_, one); }, change);
  return {};
}

Result<void> MemoryStore::scan(const Scan& scan, const RowSink& sink) const {
  if (const auto fits = check(scan); !fits) return fits;
  Found found;
  {
    const std::lock_guard guard(mutex_);
    const auto rows = contents_.find(scan.table->name);
    if (rows != contents_.end()) found = find(rows->second, scan);
  }
  for (const auto& row : found)
    if (!sink(*row)) break;
  return {};
}

Result<void> MemoryStore::backup(const std::string&) const {
  return Error::unsupported("a store in memory has nothing to back up");
}

MemoryStore::Contents MemoryStore::contents() const {
  const std::lock_guard guard(mutex_);
  return contents_;
}

std::string MemoryStore::digest() const {
  std::string bytes;
  for (const auto& [table, rows] : contents()) {
    if (rows.empty()) continue;
    append(bytes, std::string_view(table));
    append(bytes, rows.size());
    for (const auto& [key, row] : rows)
      for (const Value& value : *row) append(bytes, value);
  }
  return to_hex(sha256(bytes));
}

}  // namespace muster::store
