// `muster why` and `muster eta`: where something stands, in words.
#include <algorithm>

#include "cli/connection.hpp"
#include "cli/fleet/show.hpp"
#include "cli/queue/actions.hpp"
#include "cli/queue/show.hpp"

namespace muster::cli {
namespace {

using Shown = std::string (*)(const json::object&, const Style&);

bool is_number(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// Fails with what the host says, unless it does not know it.
std::optional<json::object> found(Result<json::value> answer) {
  if (!answer && answer.error().error_class == ErrorClass::not_found) return std::nullopt;
  const json::value document = answer_of(std::move(answer));
  if (!document.is_object()) fail(Error::internal("the host's answer is not understood"));
  return document.get_object();
}

std::optional<json::object> find_launch_config(HostClient& host, const std::string& id) {
  const json::object all =
      all_pages(host, api_path + "launch-configs?limit=1000", "launchConfigs", "after");
  for (const json::value& each : list_of(all, "launchConfigs"))
    if (each.is_object() && text_of(each.get_object(), "launchConfigId") == id)
      return json::object{{"launchConfigs", json::array{each}}};
  return std::nullopt;
}

std::optional<json::object> find_request(HostClient& host, const std::string& id) {
  return found(host.get(api_path + "requests/" + path_segment(id)));
}

}  // namespace

void tell_why(const QueueOptions& options) {
  HostClient host = connect(options.host);
  const std::string& subject = options.subject;
  std::optional<json::object> document;
  Shown shown = show_request;
  if (is_number(subject)) document = find_request(host, subject);
  if (!document && subject.starts_with("lc-")) {
    document = find_launch_config(host, subject);
    shown = show_launch_configs;
  }
  if (!document) {
    document = found(host.get(api_path + "pools/" + path_segment(with_provisioner(subject))));
    shown = show_pool;
  }
  const std::size_t slash = subject.find('/');
  if (!document && slash != std::string::npos) {
    document = found(host.get(api_path + "workers/" + path_segment(subject.substr(0, slash)) + "/" +
                              path_segment(subject.substr(slash + 1))));
    shown = show_found_workers;
  }
  if (!document)
    fail(Error::not_found("nobody knows " + subject +
                          ": it is no request, pool, launch configuration or worker "
                          "(workerGroup/workerId) of this host"));
  if (options.as_json) return print_json(*document);
  print(shown(*document, Style::of_stdout()));
}

void tell_eta(const QueueOptions& options) {
  HostClient host = connect(options.host);
  const auto request = find_request(host, options.subject);
  if (!request) fail(Error::not_found("there is no request " + options.subject));
  if (options.as_json) return print_json(table_of(*request, "verdict"));
  const std::string eta = text_of(table_of(*request, "verdict"), "eta");
  print((eta.empty() ? "not known; " + verdict_line(*request) : short_time(eta)) + "\n");
}

}  // namespace muster::cli
