// What workers say of themselves, with their own credentials.
#include <muster/codec.hpp>

#include "host/api/fleet_api.hpp"

namespace muster::api {
namespace {

using fleet::Fleet;
using fleet::Now;
using http::error_answer;
using http::Request;
using http::Response;

Response wrong(const Request& request, std::string_view message) {
  return error_answer(request, 400, "InputError", message);
}

Paths::ChangeRead read_interruption(const Request& request) {
  const auto body = http::json_body(request);
  if (!body) return body.error();
  Interruption interruption;
  bool told = false;
  for (const auto& [key, value] : *body) {
    const auto time = key == "at" && value.is_string()
                          ? parse_time(std::string_view(value.get_string()))
                          : std::nullopt;
    if (time) {
      interruption.at = *time;
      told = true;
    } else if (key == "at") {
      return wrong(request, "`at` must be a time such as 2026-01-02T03:04:05Z");
    } else if (key == "reason" && value.is_string() && value.get_string().size() <= 1000) {
      interruption.reason = value.get_string();
    } else {
      return wrong(request,
                   "`" + std::string(key) +
                       "` is not known here, or is not a string of at most 1000 characters; "
                       "the body has `at` and perhaps `reason`");
    }
  }
  if (!told) return wrong(request, "`at` is missing: when the machine is taken away");
  return Paths::Change([name = worker_of(request), interruption](Fleet& fleet, Now now) {
    return fleet.interrupt(name, interruption, now);
  });
}

Paths::ChangeRead read_activity(const Request& request) {
  const auto body = http::json_body(request);
  if (!body) return body.error();
  const json::value* busy = body->if_contains("busy");
  if (body->size() != 1 || !busy || !busy->is_int64() || busy->get_int64() < 0)
    return wrong(request, "the body has `busy`, and nothing else: how much of its capacity works");
  return Paths::Change([name = worker_of(request), busy = busy->get_int64()](
                           Fleet& fleet, Now now) { return fleet.worker_active(name, busy, now); });
}

}  // namespace

void add_worker_reports(Paths& paths) {
  const std::string worker = "pools/{workerPoolId}/workers/{workerGroup}/{workerId}";
  paths.change("POST", worker + "/interruption", read_interruption);
  paths.change("POST", worker + "/activity", read_activity);
}

}  // namespace muster::api
