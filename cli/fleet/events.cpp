#include "cli/fleet/events.hpp"

#include <cstdio>

#include "cli/connection.hpp"
#include "cli/event_parser.hpp"
#include "cli/fleet/show.hpp"
#include "cli/fleet/stop_signals.hpp"

namespace muster::cli {
namespace {

constexpr int first_pause = 500, longest_pause = 30'000;  // milliseconds between two attempts

std::string event_query(const EventOptions& options) {
  std::string query =
      query_of({{"workerPoolId", options.pool.empty() ? "" : with_provisioner(options.pool)},
                {"providerId", options.provider},
                {"launchConfigId", options.launch_config},
                {"workerId", options.worker}});
  const auto add = [&](const std::string& name, const std::string& value) {
    query += (query.empty() ? "?" : "&") + name + "=" + path_segment(value);
  };
  for (const std::string& kind : options.kinds) add("kind", kind);
  if (options.since >= 0)
    add("after", std::to_string(options.since));
  else
    add("last", std::to_string(options.last));
  return "/api/muster/v1/events" + query;
}

void print_event(const std::string& data, bool as_json) {
  const auto event = json::parse_object(data);
  if (!event) return;
  if (as_json) return print_json_line(*event);
  print(event_line(*event, View::of_stdout()));
}

// Some events are kept no longer, or the host has another store.
void print_reset(const std::string& data) {
  std::fprintf(stderr, "muster: events are missing here: the host no longer has them (%s)\n",
               harmless(data).c_str());
}

void follow(const EventOptions& options) {
  HostClient host = connect(options.host);
  const FileDescriptor stop = stop_signals();
  const std::string path = event_query(options);
  std::string last_id;
  int pause = first_pause;
  bool was_there = false;
  do {
    EventParser parser;
    const auto streamed = host.stream(path, last_id, stop.get(), [&](std::string_view bytes) {
      was_there = true;
      pause = first_pause;
      parser.feed(bytes, [&](const StreamedEvent& event) {
        if (event.name == "reset")
          print_reset(event.data);
        else
          print_event(event.data, options.as_json);
      });
      std::fflush(stdout);
    });
    if (!parser.last_id().empty()) last_id = parser.last_id();
    const bool hopeless = !streamed && streamed.error().error_class != ErrorClass::transient;
    if (!streamed && (hopeless || !was_there)) fail(streamed.error());
    if (!streamed) std::fprintf(stderr, "muster: %s\n", harmless(streamed.error().message).c_str());
    if (!pause_unless_stopped(0, stop.get())) return;
    if (streamed)
      std::fprintf(stderr, "muster: the stream ended; continuing after event %s\n",
                   last_id.empty() ? "(none)" : last_id.c_str());
    if (!pause_unless_stopped(pause, stop.get())) return;
    pause = std::min(2 * pause, longest_pause);
  } while (true);
}

}  // namespace

std::string event_line(const json::object& event, const View& view) {
  std::string about;
  for (const char* key :
       {"workerPoolId", "launchConfigId", "providerId", "workerGroup", "workerId"})
    if (const std::string part = text_of(event, key); !part.empty())
      about += (about.empty() ? "" : " ") + part;
  return view(Look::dim, text_of(event, "number") + "  " + view.time(text_of(event, "at"))) + "  " +
         view(Look::bold, text_of(event, "kind")) + "  " +
         view(Look::plain, text_of(event, "text")) +
         (about.empty() ? "" : "  " + view(Look::dim, about)) + "\n";
}

void show_events(const EventOptions& options) {
  if (options.follow) return follow(options);
  HostClient host = connect(options.host);
  json::value page = answer_of(host.get(event_query(options) + "&limit=1000"));
  put_out(page, options.as_json, options.view, [](const json::object& document, const View& view) {
    std::string out;
    for (const json::object& event : objects_of(document, "events")) out += event_line(event, view);
    return out.empty() ? "No events.\n" : out;
  });
  if (options.as_json || options.view.format == "name") return;
  if (text_of(page.get_object(), "more") == "true")
    print("More events: --since " + text_of(page.get_object(), "next") + "\n");
}

}  // namespace muster::cli
