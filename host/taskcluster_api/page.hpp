// Lists come in pages. A token names the last thing of the page before, so that what comes or goes
// meanwhile shifts nothing.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "host/taskcluster_api/call.hpp"
#include "host/taskcluster_api/pretty_text.hpp"
#include "lib/http/page_budget.hpp"

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

// Writes as many of the chosen ones as a page holds in bytes, and says which was the last; null if
// all of them are on it.
template <class Chosen, class Write>
auto write_page(PrettyText& text, const Chosen& chosen, Write write) ->
    typename Chosen::const_pointer {
  for (auto each = chosen.begin(); each != chosen.end(); ++each) {
    write(text.item(), *each);
    if (text.size() >= http::largest_page_bytes && std::next(each) != chosen.end()) return &*each;
  }
  return nullptr;
}

}  // namespace muster::taskcluster_api
