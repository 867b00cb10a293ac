// `muster why` and `muster eta`: the state of a subject in words, and when that state will end.
#include "cli/connection.hpp"
#include "cli/queue/actions.hpp"
#include "cli/queue/show.hpp"

namespace muster::cli {
namespace {

json::object ask(const QueueOptions& options, const std::string& path) {
  const json::value answer = answer_of(connect(options.host).get(api_path + path));
  if (!answer.is_object()) fail(Error::internal("the host's answer cannot be read"));
  return answer.get_object();
}

json::object ask_why(const QueueOptions& options) {
  return ask(options, "why?subject=" + path_segment(options.subject));
}

}  // namespace

void print_why(const QueueOptions& options) {
  const json::object answer = ask_why(options);
  put_out(answer, options.as_json, options.view, show_why);
}

void print_eta(const QueueOptions& options) {
  if (options.subject.empty()) {
    const json::object answer = ask(options, "expectations");
    return put_out(answer, options.as_json, options.view, show_expectations);
  }
  const std::vector<json::object> stories = objects_of(ask_why(options), "stories");
  if (stories.empty()) fail(Error::internal("the host's answer cannot be read"));
  const json::object verdict = table_of(stories[0], "verdict");
  if (options.as_json) return print_json(verdict);
  const json::object eta = table_of(verdict, "eta");
  if (!eta.empty()) return print(eta_text(eta, View::of_stdout()) + "\n");
  const std::string kind = text_of(verdict, "kind");
  print(kind == "placed" ? "now\n" : "unknown: " + text_of(verdict, "text") + "\n");
}

}  // namespace muster::cli
