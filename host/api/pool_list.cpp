#include "host/api/pool_list.hpp"

#include "host/api/fleet_json.hpp"
#include "host/api/list_pages.hpp"

namespace muster::api {
namespace {

using fleet::Pool;

enum class PoolSort { name, pending, capacity, verdict };
constexpr auto enum_names(PoolSort) {
  return std::array<std::string_view, 4>{"name", "pending", "capacity", "verdict"};
}

struct WantedPools {
  std::optional<verdict::Kind> verdict;
  PoolSort sort = PoolSort::name;
  std::string search, provider;
  WorkerPoolId after{""};
  std::size_t offset = 0;

  bool fits(const Pool& pool) const {
    if (pool.removed() || !(pool.id > after)) return false;
    if (verdict && pool.verdict.kind != *verdict) return false;
    if (!provider.empty() &&
        (!pool.spec || std::ranges::none_of(pool.spec->providers, [&](const ProviderId& each) {
          return each.str() == provider;
        })))
      return false;
    return search.empty() || contains_text(pool.id.str(), search) ||
           (pool.spec && (contains_text(pool.spec->owner, search) ||
                          contains_text(pool.spec->description, search)));
  }
  // The largest first, and those that are blocked; names decide between equals.
  bool before(const Pool& a, const Pool& b) const {
    const auto rank = [&](const Pool& pool) -> std::int64_t {
      switch (sort) {
        case PoolSort::pending:
          return pool.demand.pending;
        case PoolSort::capacity:
          return pool.totals.used();
        case PoolSort::verdict:
          return static_cast<std::int64_t>(pool.verdict.kind);
        case PoolSort::name:
          break;
      }
      return 0;
    };
    const std::int64_t of_a = rank(a), of_b = rank(b);
    return of_a != of_b ? of_a > of_b : a.id < b.id;
  }
};

Result<WantedPools> wanted_pools(const Call& call) {
  WantedPools wanted;
  if (const auto given = call.query().find("verdict")) {
    wanted.verdict = named<verdict::Kind>(*given);
    if (!wanted.verdict) return not_one_of<verdict::Kind>("verdict");
  }
  if (const auto given = call.query().find("sort")) {
    const auto sort = named<PoolSort>(*given);
    if (!sort) return not_one_of<PoolSort>("sort");
    wanted.sort = *sort;
  }
  const auto offset = call.query().number("offset", 0, 0, most_offset);
  if (!offset) return offset.error();
  wanted.offset = static_cast<std::size_t>(*offset);
  wanted.after = WorkerPoolId(call.query().text("after"));
  if (wanted.sort != PoolSort::name && !wanted.after.empty())
    return Error::invalid("`after` is for the order of names; with another `sort` use `offset`");
  wanted.search = call.query().text("search");
  wanted.provider = call.query().text("providerId");
  return wanted;
}

}  // namespace

Answer list_pools(const Call& call, const fleet::Fleet& fleet, fleet::Now now) {
  const auto limit = call.query().limit();
  if (!limit) return to_failure(limit.error());
  const auto wanted = wanted_pools(call);
  if (!wanted) return to_failure(wanted.error());
  std::vector<const Pool*> chosen;
  for (const Pool& pool : fleet.pools())
    if (wanted->fits(pool)) chosen.push_back(&pool);
  const std::size_t total = chosen.size();
  bool more = keep_page(chosen, wanted->offset, *limit,
                        [&](const Pool* a, const Pool* b) { return wanted->before(*a, *b); });
  const Pool* last = nullptr;
  json::object answer{{"pools", page_of(chosen, more, last, [&](const Pool* pool) {
                         return pool_document(fleet, *pool, now);
                       })}};
  if (more && last && wanted->sort == PoolSort::name) answer["next"] = last->id.str();
  answer["total"] = total;
  return json_answer(answer);
}

}  // namespace muster::api
