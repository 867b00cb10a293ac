// Lists come in pages. A token names the last thing of the page before, so that what comes or goes
// meanwhile shifts nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/taskcluster_api/call.hpp"

namespace muster::taskcluster_api {

inline constexpr std::size_t largest_page = 1000;

// The query's `limit`, at most `most`; without one `most`. The query was checked before.
std::size_t limit_of(const Call& call, std::size_t most = largest_page);

// Opaque to clients. `kind` keeps a token of one list from being taken for one of another.
std::string make_token(char kind, std::string_view key);

// What the query's token names; nothing inside if there is none.
boost::system::result<std::optional<std::string>, Failure> key_of_token(const Call& call,
                                                                        char kind);
// The same for keys that are numbers.
boost::system::result<std::optional<std::int64_t>, Failure> number_of_token(const Call& call,
                                                                            char kind);

}  // namespace muster::taskcluster_api
