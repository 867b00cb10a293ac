#include "cli/fleet/worker_logs.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "cli/connection.hpp"
#include "cli/fleet/show.hpp"
#include "cli/fleet/stop_signals.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {
namespace {

constexpr int between_questions = 1000;  // milliseconds
constexpr std::size_t most_sources = 50;

struct Source {
  std::string name;  // "group/id"
  std::string path;
  std::int64_t next = 0;
  std::string unfinished = {};  // a line of which the end has not come
};

Source source_of(const std::string& pool, const json::object& worker) {
  const std::string group = text_of(worker, "workerGroup"), id = text_of(worker, "workerId");
  return {group + "/" + id, api_path + "pools/" + path_segment(pool) + "/workers/" +
                                path_segment(group) + "/" + path_segment(id) + "/log"};
}

// A worker by its name, else the workers of a pool.
std::vector<Source> sources_of(HostClient& host, const std::string& target) {
  std::vector<Source> sources;
  if (const auto slash = target.find('/'); slash != std::string::npos) {
    const auto found = host.get(api_path + "workers/" + path_segment(target.substr(0, slash)) +
                                "/" + path_segment(target.substr(slash + 1)));
    if (found && found->is_object())
      for (const json::value& worker : list_of(found->get_object(), "workers"))
        if (worker.is_object())
          sources.push_back(
              source_of(text_of(worker.get_object(), "workerPoolId"), worker.get_object()));
    if (!sources.empty()) return sources;
  }
  const std::string pool = with_provisioner(target);
  const json::value answer = answer_of(host.get(api_path + "pools/" + path_segment(pool) +
                                                "/workers?limit=" + std::to_string(most_sources)));
  for (const json::value& worker : list_of(answer.as_object(), "workers"))
    if (worker.is_object() && !text_of(worker.get_object(), "workerId").empty())
      sources.push_back(source_of(pool, worker.get_object()));
  return sources;
}

void print_lines(Source& source, const std::string& text, bool with_name) {
  if (!with_name) return print(for_terminal(text));
  source.unfinished += text;
  std::size_t begin = 0;
  for (auto end = source.unfinished.find('\n'); end != std::string::npos;
       begin = end + 1, end = source.unfinished.find('\n', begin))
    print(Style::of_stdout()(Look::cyan, for_terminal(source.name)) + "  " +
          for_terminal(source.unfinished.substr(begin, end - begin)) + "\n");
  source.unfinished.erase(0, begin);
}

// Whether anything came. A worker that is gone says nothing more.
bool print_news(HostClient& host, Source& source, const WorkerLogOptions& options, bool with_name) {
  const auto answer = host.get(source.path + "?from=" + std::to_string(source.next));
  if (!answer && answer.error().error_class == ErrorClass::not_found) return false;
  const json::object part = answer_of(answer).as_object();
  const json::value* next = part.if_contains("next");
  const json::value* from = part.if_contains("from");
  if (!next || !next->is_int64() || !from || !from->is_int64()) return false;
  if (next->get_int64() == source.next && !options.as_json) return false;
  if (source.next > 0 && from->get_int64() > source.next)
    std::fprintf(stderr, "muster: output of %s is missing here: the host keeps the newest only\n",
                 for_terminal(source.name).c_str());
  if (options.as_json) {
    json::object line = part;
    line["worker"] = source.name;
    if (!text_of(part, "text").empty() || !options.follow) print_json_line(line);
  } else {
    const json::value* text = part.if_contains("text");
    if (text && text->is_string()) print_lines(source, std::string(text->get_string()), with_name);
  }
  source.next = next->get_int64();
  return true;
}

}  // namespace

std::string for_terminal(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool is_c1 =
        byte == 0xC2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0;
    if (is_c1) ++at;
    if (is_c1 || (byte < ' ' && byte != '\n' && byte != '\t') || byte == 0x7F)
      shown += "\uFFFD";
    else
      shown += text[at];
  }
  return shown;
}

void show_worker_logs(const WorkerLogOptions& options) {
  HostClient host = connect(options.host);
  std::vector<Source> sources = sources_of(host, options.target);
  if (sources.empty() && !options.follow) return print("No workers.\n");
  const FileDescriptor stop = options.follow ? stop_signals() : FileDescriptor();
  bool any = false;
  for (Source& source : sources) any = print_news(host, source, options, sources.size() > 1) || any;
  if (!any && !options.follow && !options.as_json)
    std::fprintf(stderr,
                 "muster: nothing was printed, or the workers run an agent that sends no output\n");
  while (options.follow) {
    std::fflush(stdout);
    if (!pause_unless_stopped(between_questions, stop.get())) return;
    for (const Source& found : sources_of(host, options.target))
      if (std::ranges::find(sources, found.path, &Source::path) == sources.end())
        sources.push_back(found);
    for (Source& source : sources) print_news(host, source, options, sources.size() > 1);
  }
}

}  // namespace muster::cli
