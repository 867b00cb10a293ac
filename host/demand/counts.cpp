#include <set>

#include "host/demand/source.hpp"

namespace muster::demand {
namespace {

// A whole number from 0; nothing if it is none.
std::optional<std::int64_t> number(const json::value& value) {
  if (value.is_int64() && value.get_int64() >= 0 && value.get_int64() <= max_pending)
    return value.get_int64();
  return std::nullopt;
}

std::string not_a_number(const char* what, const json::value& value) {
  return std::string(what) + " is " + json::write(value).substr(0, 60) +
         ", but must be a whole number from 0 to " + std::to_string(max_pending);
}

// Empty, or what is wrong.
std::string read_count(const json::value& value, Count& into) {
  if (!value.is_object()) {
    const auto pending = number(value);
    if (!pending) return not_a_number("it", value);
    into.pending = *pending;
    return {};
  }
  for (const auto& [key, member] : value.get_object()) {
    const auto read = number(member);
    if (key == "pending" && read)
      into.pending = *read;
    else if (key == "claimed" && read)
      into.claimed = read;
    else if (key == "pending" || key == "claimed")
      return not_a_number(key == "pending" ? "pending" : "claimed", member);
    else
      return "has the unknown key " + json::write(json::value(key)).substr(0, 60);
  }
  return value.get_object().contains("pending") ? "" : "lacks the key \"pending\"";
}

}  // namespace

Result<Answer> read_counts(const json::value& document, const std::vector<WorkerPoolId>& pools,
                           Time at) {
  if (!document.is_object())
    return Error::invalid("it is not an object of the form {\"<workerPoolId>\": <pending>}");
  const json::object& table = document.get_object();
  Answer answer;
  std::set<std::string_view> known;
  for (const WorkerPoolId& pool : pools) {
    known.insert(pool.str());
    Count count{0, {}, at};
    const json::value* value = table.if_contains(pool.str());
    const std::string wrong = value ? read_count(*value, count) : "";
    if (wrong.empty())
      answer.counts[pool] = count;
    else
      answer.pool_errors[pool] = wrong;
  }
  for (const auto& [key, value] : table)
    if (!known.contains(std::string_view(key)) && answer.unknown_pools.size() < most_unknown)
      answer.unknown_pools.emplace_back(key);
  return answer;
}

std::unique_ptr<DemandSource> make_source(const config::DemandSettings& settings) {
  switch (settings.type) {
    case config::DemandType::file:
      return file_source(settings);
    case config::DemandType::folder:
      return folder_source(settings);
    case config::DemandType::http:
      return http_source(settings);
    default:
      return taskcluster_source(settings);
  }
}

}  // namespace muster::demand
