// The changes of a commit as those that follow read them: a row of muster_changes for each commit,
// written in its transaction, in the order of the commits.
#pragma once

#include <span>
#include <string>

#include "host/store/store.hpp"

namespace muster::postgres {

using FollowedTables = std::span<const store::Table* const>;

// JSON: [["put","workers",1,"a",null],["erase","workers",1],["eraseBelow","times","at",5]]. Changes
// of other tables are left out.
std::string to_text(const store::Batch& batch, FollowedTables tables);

// Changes of tables that are not followed are left out. Fails as `invalid` if it is no such text,
// or if a row has other columns than these tables: another version of muster wrote it.
Result<store::Batch> from_text(std::string_view text, FollowedTables tables);

// Erases rows that everybody who follows has long seen. A statement of a commit now and then.
// $1 the number of the last commit.
extern const char* const prune_changes;
inline constexpr std::int64_t commits_between_prunings = 64;

}  // namespace muster::postgres
