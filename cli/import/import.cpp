#include "cli/import/import.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include <muster/rules/glob.hpp>

#include "cli/connection.hpp"
#include "cli/import/convert.hpp"
#include "cli/import/source.hpp"
#include "cli/rules/judge.hpp"
#include "cli/rules/target.hpp"
#include "lib/base/atomic_file.hpp"
#include "lib/base/secret_file.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;
using importing::Converted;
using importing::PoolReport;
using importing::Report;

// A pool on its way.
struct Item {
  std::size_t report = 0;  // index of its report
  Converted converted = {};
};

std::map<std::string, std::string> pairs_of(const std::vector<std::string>& texts,
                                            const char* option, bool as_json) {
  std::map<std::string, std::string> pairs;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == text.npos || equals + 1 == text.size())
      fail(exit_usage, std::string(option) + " takes NAME=NAME, not " + text, as_json);
    pairs[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return pairs;
}

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

// Credentials of the environment are for the deployment that the environment names, if it does.
importing::Source source_of(const ImportOptions& options) {
  importing::Source source{.name = options.source, .ca_file = options.ca_file};
  if (!source.is_url()) return source;
  if (!options.client_id.empty()) {
    if (options.access_token_file.empty())
      fail(exit_usage, "--client-id needs --access-token-file", options.as_json);
    auto token = read_secret_file(options.access_token_file, "the access token");
    if (!token) fail(token.error());
    source.credentials = hawk::Credentials{options.client_id, std::move(*token)};
    return source;
  }
  const std::string id = process_environment("TASKCLUSTER_CLIENT_ID");
  const std::string token = process_environment("TASKCLUSTER_ACCESS_TOKEN");
  const std::string root = process_environment("TASKCLUSTER_ROOT_URL");
  if (id.empty() || token.empty()) return source;
  if (!root.empty() && without_slash(root) != without_slash(source.name))
    std::fprintf(
        stderr,
        "muster: TASKCLUSTER_CLIENT_ID is for TASKCLUSTER_ROOT_URL and is not used for %s\n",
        harmless(source.name).c_str());
  else
    source.credentials =
        hawk::Credentials{id, Secret(token), process_environment("TASKCLUSTER_CERTIFICATE")};
  return source;
}

std::vector<importing::TaskclusterPool> wanted_pools(const ImportOptions& options, Report& report) {
  auto pools = importing::read_pools(source_of(options), report);
  if (!pools) fail(pools.error());
  if (options.pool.empty()) return std::move(*pools);
  auto glob = rules::Glob::parse(options.pool);
  if (!glob) fail(exit_usage, "--pool: " + glob.error().message, options.as_json);
  std::erase_if(*pools, [&](const auto& pool) { return !glob->matches(pool.worker_pool_id); });
  std::erase_if(report.pools,
                [&](const PoolReport& pool) { return !glob->matches(pool.worker_pool_id); });
  if (pools->empty() && report.pools.empty())
    fail(exit_failed, "No worker pool matches " + options.pool + ".", options.as_json);
  return std::move(*pools);
}

// The host's own files may not be hit.
std::string file_name(const std::string& worker_type) {
  const std::string name = worker_type + ".toml";
  return rules::is_configuration_file(name) && name != rules::facts_file_name
             ? name
             : worker_type + "-pool.toml";
}

std::string facts_text(const std::vector<Item>& items) {
  std::map<std::string, std::pair<const importing::Cloud*, std::vector<importing::Place>>> places;
  for (const Item& item : items) {
    auto& [cloud, known] = places[item.converted.parts.provider_id];
    if (cloud && cloud != item.converted.cloud) continue;
    cloud = item.converted.cloud;
    known.insert(known.end(), item.converted.parts.places.begin(),
                 item.converted.parts.places.end());
  }
  std::string text = "# What the providers offer, as far as imported pools use it.\n";
  for (const auto& [id, offer] : places)
    text += "\n" + importing::facts_text(*offer.first, id, offer.second);
  return text;
}

// Where a problem is: its key, or what its reason says about a part of a list there.
std::string place_of(const rules::Problem& problem) {
  const auto dot = problem.key.rfind('.');
  const std::string last = dot == std::string::npos ? problem.key : problem.key.substr(dot + 1);
  const auto colon = problem.reason.find(": ");
  if (colon == std::string::npos || !problem.reason.starts_with(last + "[")) return problem.key;
  return problem.key.substr(0, problem.key.size() - last.size()) + problem.reason.substr(0, colon);
}

// What the plugins refuse is left out, and told, until they refuse nothing.
void satisfy_plugins(std::vector<Item>& items, Report& report, const ImportOptions& options) {
  constexpr int most_rounds = 20;
  for (int round = 0; round < most_rounds && !items.empty(); ++round) {
    std::vector<rules::SourceFile> files{{std::string(rules::facts_file_name), facts_text(items)}};
    for (const Item& item : items)
      files.push_back({report.pools[item.report].file, item.converted.text});
    const Judgement judgement =
        judge(files, {.plugin_folders = options.plugin_folders}, options.as_json);
    report.notes = judgement.notes;
    std::set<std::string> changed, hopeless;
    for (const rules::Problem& problem : judgement.problems) {
      if (problem.severity != rules::Severity::error) continue;
      const auto item = std::ranges::find_if(items, [&](const Item& each) {
        return report.pools[each.report].file == problem.position.file;
      });
      if (item == items.end()) continue;
      PoolReport& pool = report.pools[item->report];
      const std::string key = place_of(problem);
      if (round + 1 < most_rounds && importing::leave_out(item->converted, key)) {
        // The facts behind the reason are one of many places.
        pool.lose("", key, problem.reason.substr(0, problem.reason.find(" (for workerType=")));
        changed.insert(pool.file);
      } else if (!changed.contains(pool.file)) {
        pool.refused = "muster check would refuse it: " + rules::to_string(problem);
        hopeless.insert(pool.file);
      }
    }
    for (Item& item : items)
      if (PoolReport& pool = report.pools[item.report]; changed.contains(pool.file))
        importing::write_text(item.converted, pool);
    std::erase_if(items,
                  [&](const Item& item) { return !report.pools[item.report].refused.empty(); });
    if (changed.empty() && hopeless.empty()) return;
  }
}

// Worker types that another file of the folder has.
void refuse_taken_types(std::vector<Item>& items, Report& report, const fs::path& folder) {
  std::error_code code;
  if (!fs::is_directory(folder, code)) return;
  const auto set = rules::load_folder(folder);
  if (!set) return;
  std::erase_if(items, [&](const Item& item) {
    PoolReport& pool = report.pools[item.report];
    const rules::Document* other = set->find_by_worker_type(pool.worker_type);
    if (!other || fs::path(other->file).filename() == pool.file) return false;
    pool.refused = "the worker type " + pool.worker_type + " is already in " + other->file;
    return true;
  });
}

// All or none: nothing is written if something would be replaced.
void write_files(const std::vector<Item>& items, const Report& report,
                 const ImportOptions& options) {
  const fs::path folder = options.output;
  std::vector<std::pair<fs::path, std::string>> files;
  for (const Item& item : items)
    files.emplace_back(folder / report.pools[item.report].file, item.converted.text);
  if (options.facts) files.emplace_back(folder / rules::facts_file_name, facts_text(items));
  std::error_code code;
  for (const auto& [file, text] : files)
    if (!options.force && fs::symlink_status(file, code).type() != fs::file_type::not_found)
      fail(exit_failed,
           file.string() + " is there already, and nothing was written; --force replaces it",
           options.as_json);
  fs::create_directories(folder, code);
  for (const auto& [file, text] : files)
    if (const auto written = write_file_atomically(file, text); !written) fail(written.error());
}

void say(const std::vector<Item>& items, const Report& report, const ImportOptions& options) {
  if (options.as_json) {
    json::object document = importing::to_json(report);
    document["written"] = !options.dry_run && !items.empty();
    json::object files;
    for (const Item& item : items)
      if (options.dry_run) files[report.pools[item.report].file] = item.converted.text;
    if (options.dry_run && options.facts) files[rules::facts_file_name] = facts_text(items);
    if (options.dry_run) document["files"] = std::move(files);
    return print_json(document);
  }
  const std::string text =
      harmless(importing::to_text(report, !options.dry_run && !items.empty()), NewLines::kept);
  if (!options.dry_run) return print(text);
  for (const Item& item : items)
    print("# ---- " + report.pools[item.report].file + "\n" + item.converted.text + "\n");
  if (options.facts)
    print("# ---- " + std::string(rules::facts_file_name) + "\n" + facts_text(items));
  std::fputs(text.c_str(), stderr);
}

}  // namespace

void import_taskcluster(const ImportOptions& options) {
  Report report;
  const importing::ConvertOptions how{
      .providers = pairs_of(options.provider_map, "--provider-map", options.as_json),
      .knowledge = {pairs_of(options.subnet_zones, "--subnet-zone", options.as_json)}};
  const auto pools = wanted_pools(options, report);
  const auto types = importing::worker_types_of(pools);
  std::vector<Item> items;
  std::set<std::string> taken;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    PoolReport pool;
    auto converted = importing::convert(pools[i], types[i], how, pool);
    if (converted && !taken.insert(types[i]).second)
      pool.refused = "another pool became the worker type " + types[i] + ", too";
    if (pool.refused.empty()) pool.file = file_name(types[i]);
    if (pool.refused.empty()) items.push_back({report.pools.size(), std::move(*converted)});
    report.pools.push_back(std::move(pool));
  }
  refuse_taken_types(items, report, options.output);
  satisfy_plugins(items, report, options);
  if (!items.empty())
    report.notes.emplace_back(
        "a pool is called worker-manager/<workerType> here; what sends tasks to it must use this "
        "name");
  if (!options.dry_run && !items.empty()) write_files(items, report, options);
  for (PoolReport& pool : report.pools)
    if (!pool.refused.empty()) {
      pool.file.clear();
      pool.carried = 0;
    }
  say(items, report, options);
  if (items.empty()) throw Exit{exit_failed};
  if (!report.is_whole()) throw Exit{exit_partial};
}

}  // namespace muster::cli
