#include "host/pools/queue_section.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "host/queue/pool_keys.hpp"
#include "host/queue/resources.hpp"

namespace muster::pools {
namespace {

// The path of the table.
const rules::Path queue_path = {"workerConfig", "queue"};

class QueueReader {
 public:
  explicit QueueReader(rules::Path at) : at_(std::move(at)) {}

  Findings read(const json::object& table) {
    const std::vector<std::string> known = {"resources", "tags", "team", "announce"};
    for (const auto& [key, value] : table)
      if (std::ranges::find(known, std::string_view(key)) == known.end())
        findings_.push_back(unknown_key(at_, std::string(key), known, code_));
    if (const json::value* resources = table.if_contains("resources")) read_resources(*resources);
    if (const json::value* tags = table.if_contains("tags")) read_names("tags", "a tag", *tags);
    if (const json::value* team = table.if_contains("team")) {
      if (!team->is_string())
        wrong({"team"}, "must be a string", "write team = \"ios\"");
      else
        check_name({"team"}, "the name of a team", team->get_string());
    }
    if (const json::value* announce = table.if_contains("announce")) read_announce(*announce);
    return std::move(findings_);
  }

 private:
  void wrong(const rules::Path& below, std::string reason, std::string remedy = {}) {
    rules::Path path = at_;
    path.insert(path.end(), below.begin(), below.end());
    findings_.push_back({std::move(path), std::move(reason), std::move(remedy), code_});
  }

  void check_name(const rules::Path& below, std::string_view what, std::string_view name) {
    if (const auto fine = queue::check_name(what, name); !fine) wrong(below, fine.error().message);
  }

  void read_resources(const json::value& resources) {
    if (!resources.is_object())
      return wrong({"resources"}, "must be a table of whole numbers",
                   "write resources = { memory = 65536 }");
    std::map<std::string, std::int64_t> named;
    for (const auto& [name, amount] : resources.get_object()) {
      if (!amount.is_int64()) {
        wrong({"resources", std::string(name)},
              "is " + json::write(amount) + ", but must be a whole number");
        continue;
      }
      // One by one, so that each mistake has its own line.
      const std::map<std::string, std::int64_t> one{{std::string(name), amount.get_int64()}};
      if (const auto fine = queue::Resources::from(one); !fine)
        wrong({"resources", std::string(name)}, fine.error().message);
      else
        named.merge(std::map(one));
    }
    if (const auto fine = queue::Resources::from(named); !fine)
      wrong({"resources"}, fine.error().message);
  }

  // What workers may say of themselves.
  void read_announce(const json::value& list) {
    const std::vector<std::string> known = {"resources", "tags", "team"};
    const auto names = from_value<std::vector<std::string>>(list);
    const bool all_known = names && std::ranges::all_of(*names, [&](const std::string& name) {
                             return std::ranges::find(known, name) != known.end();
                           });
    if (!all_known)
      wrong({"announce"}, "must be a list of what workers may say of themselves",
            "write announce = [\"resources\", \"tags\", \"team\"], or less of it");
  }

  void read_names(const char* key, std::string_view what, const json::value& names) {
    const std::string remedy = "write " + std::string(key) + " = [\"one\", \"two\"]";
    if (!names.is_array()) return wrong({key}, "must be a list of strings", remedy);
    for (const json::value& name : names.get_array()) {
      if (!name.is_string()) return wrong({key}, "must be a list of strings", remedy);
      check_name({key}, what, name.get_string());
    }
  }

  const std::string code_ = "badQueueValue";
  const rules::Path at_;
  Findings findings_;
};

}  // namespace

Findings check_queue_section(const json::object& document) {
  const json::value* config = document.if_contains(queue_path.front());
  const json::object* received = config ? config->if_object() : nullptr;
  const json::value* queue = received ? received->if_contains(queue_path.back()) : nullptr;
  if (!queue) return {};
  if (!queue->is_object())
    return {{queue_path, "must be a table", "write queue = { resources = { memory = 65536 } }",
             "badQueueValue"}};
  Findings findings = QueueReader(queue_path).read(queue->get_object());
  const json::value* teams = document.if_contains("teams");
  const bool dedicated = teams && teams->is_array() && !teams->get_array().empty();
  if (dedicated && queue->get_object().contains("team"))
    findings.push_back({{queue_path.front(), queue_path.back(), "team"},
                        "stands beside `teams`: workers of a pool that is dedicated to teams "
                        "belong to no team themselves",
                        "take one of them away",
                        "badQueueValue"});
  return findings;
}

Findings check_worker_keys(const json::object& document) {
  const std::string name = "publicWorkerKeys";
  const json::value* list = document.if_contains(name);
  if (!list) return {};
  const auto lines = from_value<std::vector<std::string>>(*list);
  if (!lines) return {};  // of the wrong kind, which rules::check says of every pool setting
  if (const auto keys = queue::read_pool_keys(name, *lines); !keys)
    return {{{name}, keys.error().message, "write the line of a .pub file", "badWorkerKey"}};
  return {};
}

}  // namespace muster::pools
