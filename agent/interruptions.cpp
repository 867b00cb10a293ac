#include "agent/interruptions.hpp"

#include <algorithm>

#include <muster/codec.hpp>
#include <muster/json.hpp>

#include "agent/host_responses.hpp"
#include "agent/metadata.hpp"
#include "lib/hawk/server_clock.hpp"
#include "lib/url/url.hpp"

namespace muster::agent {
namespace {

using namespace std::chrono_literals;

constexpr Milliseconds answer_timeout = 10s;
constexpr Milliseconds azure_timeout = 130s;  // its first answer takes up to two minutes
constexpr int google_wait_seconds = 300;
constexpr int rounds_between_rebalances = 6;
// How long after their notices the clouds usually act.
constexpr Milliseconds aws_notice = 120s, google_notice = 30s, azure_notice = 10s;

std::string text_of(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(key);
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

}  // namespace

std::optional<InterruptionNotice> read_aws_action(const std::string& body) {
  const auto document = json::parse_object(body);
  const std::string action = document ? text_of(*document, "action") : "";
  if (action.empty()) return std::nullopt;
  return InterruptionNotice{parse_time(text_of(*document, "time")), aws_notice,
                            "spot instance: " + action};
}

std::optional<InterruptionNotice> read_aws_rebalance(const std::string& body) {
  const auto document = json::parse_object(body);
  if (!document || !document->contains("noticeTime")) return std::nullopt;
  return InterruptionNotice{std::nullopt, aws_notice, "rebalance recommendation", true};
}

std::optional<InterruptionNotice> read_azure_events(const std::string& body,
                                                    const std::string& machine) {
  const auto document = json::parse_object(body);
  const json::value* events = document ? document->if_contains("Events") : nullptr;
  if (!events || !events->is_array()) return std::nullopt;
  for (const json::value& item : events->get_array()) {
    if (!item.is_object()) continue;
    const json::object& event = item.get_object();
    const std::string type = text_of(event, "EventType"), status = text_of(event, "EventStatus");
    if (type.empty() || type == "Freeze" || status == "Completed" || status == "Canceled") continue;
    const json::value* names = event.if_contains("Resources");
    const bool named = names && names->is_array() && !names->get_array().empty();
    if (named && !machine.empty() &&
        std::ranges::none_of(names->get_array(), [&](const json::value& name) {
          return name.is_string() && std::string_view(name.get_string()) == machine;
        }))
      continue;
    return InterruptionNotice{hawk::parse_http_date(text_of(event, "NotBefore")), azure_notice,
                              "scheduled event: " + type};
  }
  return std::nullopt;
}

InterruptionWatch::InterruptionWatch(IdentityKind cloud, std::string metadata_url,
                                     std::string machine, Milliseconds interval, EventLoop& loop,
                                     HttpClient& http, Notify notify)
    : cloud_(cloud),
      base_(metadata_url.empty() ? default_metadata_url(cloud) : std::move(metadata_url)),
      machine_(std::move(machine)),
      interval_(interval),
      loop_(loop),
      http_(http),
      notify_(std::move(notify)) {
  ask();
}

InterruptionWatch::~InterruptionWatch() {
  loop_.remove(timer_);
  http_.cancel(request_);
}

void InterruptionWatch::send(HttpRequest request,
                             std::function<void(const Result<HttpAnswer>&)> done) {
  request_ = http_.send(std::move(request), std::move(done));
}

void InterruptionWatch::ask_later(Milliseconds delay) {
  timer_ = loop_.after(delay, [this] { ask(); });
}

void InterruptionWatch::ask() {
  if (cloud_ == IdentityKind::aws) return ask_aws();
  if (cloud_ == IdentityKind::google) return ask_google();
  if (cloud_ == IdentityKind::azure) return ask_azure();
}

// A notice ends the watch; its listener may destroy the watch.
void InterruptionWatch::tell(const InterruptionNotice& notice) {
  const Notify notify = notify_;
  notify(notice);
}

void InterruptionWatch::get_token() {
  send({.method = "PUT",
        .url = base_ + "/latest/api/token",
        .headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}},
        .timeout = answer_timeout},
       [this](const Result<HttpAnswer>& answer) {
         if (!answer || answer->status != 200) return ask_later(interval_);
         token_ = answer->body.substr(0, answer->body.find_last_not_of(" \t\r\n") + 1);
         ask_aws();
       });
}

void InterruptionWatch::ask_aws() {
  if (token_.empty()) return get_token();
  send({.url = base_ + "/latest/meta-data/spot/instance-action",
        .headers = {{"X-aws-ec2-metadata-token", token_}},
        .timeout = answer_timeout},
       [this](const Result<HttpAnswer>& answer) {
         if (answer && answer->status == 401) token_.clear();
         if (answer && answer->status == 200)
           if (const auto notice = read_aws_action(answer->body)) return tell(*notice);
         if (!warned_ && !token_.empty() && rounds_++ % rounds_between_rebalances == 0)
           return ask_rebalance();
         ask_later(interval_);
       });
}

void InterruptionWatch::ask_rebalance() {
  send({.url = base_ + "/latest/meta-data/events/recommendations/rebalance",
        .headers = {{"X-aws-ec2-metadata-token", token_}},
        .timeout = answer_timeout},
       [this](const Result<HttpAnswer>& answer) {
         ask_later(interval_);
         if (!answer || answer->status != 200) return;
         const auto notice = read_aws_rebalance(answer->body);
         warned_ = notice.has_value();
         if (notice) tell(*notice);
       });
}

// The server answers when something changes, or after a while.
void InterruptionWatch::ask_google() {
  send({.url = base_ + "/computeMetadata/v1/instance/preempted?wait_for_change=true&last_etag=" +
               encode_segment(etag_) + "&timeout_sec=" + std::to_string(google_wait_seconds),
        .headers = {{"Metadata-Flavor", "Google"}},
        .timeout = std::chrono::seconds(google_wait_seconds + 30)},
       [this](const Result<HttpAnswer>& answer) {
         if (!answer || answer->status != 200) return ask_later(interval_);
         const std::string* etag = answer->header("etag");
         const bool moved = etag && *etag != etag_;
         if (etag) etag_ = *etag;
         if (answer->body.starts_with("TRUE"))
           return tell({std::nullopt, google_notice, "the instance is preempted"});
         // A service that answers at once although nothing has changed is asked after a pause.
         ask_later(moved ? std::min(interval_, 1000ms) : interval_);
       });
}

void InterruptionWatch::ask_azure() {
  send({.url = base_ + "/metadata/scheduledevents?api-version=2020-07-01",
        .headers = {{"Metadata", "true"}},
        .timeout = azure_timeout},
       [this](const Result<HttpAnswer>& answer) {
         if (answer && answer->status == 200)
           if (const auto notice = read_azure_events(answer->body, machine_)) return tell(*notice);
         ask_later(interval_);
       });
}

}  // namespace muster::agent
