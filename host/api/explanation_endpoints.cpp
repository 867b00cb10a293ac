// Why something is where it is, as a story in words: of a request, a pool, a launch configuration
// or a worker; and how far what is said about times can be trusted.
#include <cctype>
#include <charconv>
#include <cstdio>

#include <muster/codec.hpp>
#include <muster/plural.hpp>

#include "host/api/fleet_json.hpp"
#include "host/api/handlers.hpp"
#include "host/api/json_members.hpp"
#include "host/api/query_parameters.hpp"
#include "host/api/queue_json.hpp"
#include "host/api/responsible_rule.hpp"
#include "host/queue/lines.hpp"

namespace muster::api {
namespace {

using fleet::Fleet;
using fleet::Now;

struct Story {
  const char* kind = "";
  std::vector<std::string> sentences = {};
  std::optional<verdict::Verdict> verdict = {};  // a worker has none
  json::object document = {};

  void tell(std::string sentence) { sentences.push_back(std::move(sentence)); }
};

std::string span_of(std::chrono::milliseconds time) {
  const std::int64_t seconds = std::max<std::int64_t>(0, time.count() / 1000);
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 7200) return std::to_string(seconds / 60) + " min";
  return std::to_string(seconds / 3600) + " h";
}

std::string percent(std::int64_t part, std::int64_t whole) {
  return std::to_string((part * 100 + whole / 2) / whole) + " %";
}

std::string two_digits(double number) {
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.2f", number);
  return digits;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// -------------------------------------------------------------------------------------------------
// What all stories have

// What somebody could change; null if nothing has to be.
const verdict::Obstacle* cause_in(const Story& story) {
  if (!story.verdict) return nullptr;
  if (story.verdict->obstacle) return &*story.verdict->obstacle;
  return story.verdict->limited_by ? &*story.verdict->limited_by : nullptr;
}

// What is placed needs no heading: its text says what it has.
std::string sentence_of(const verdict::Verdict& verdict) {
  std::string text = verdict.text;
  if (verdict.kind != verdict::Kind::placed) text = name_of(verdict.kind) + ": " + text;
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + ".";
}

void tell_verdict(Story& story, const Fleet& fleet, Now now) {
  const verdict::Verdict& verdict = *story.verdict;
  story.tell(sentence_of(verdict));
  if (verdict.eta) {
    story.tell("ETA: p50 in " + span_of(verdict.eta->p50 - now.wall) + " (" +
               format_time(verdict.eta->p50) + "), p90 in " + span_of(verdict.eta->p90 - now.wall) +
               " (" + format_time(verdict.eta->p90) + ").");
    const verdict::Calibration::Score& score = fleet.queue().calibration().last();
    if (score.expectations > 0)
      story.tell("ETA accuracy: of the last " + count_of(score.expectations, "prediction") + ", " +
                 percent(score.kept_p50, score.expectations) + " were met by p50 and " +
                 percent(score.kept_p90, score.expectations) + " by p90.");
  }
  const verdict::Obstacle* obstacle = cause_in(story);
  if (!obstacle) return;
  story.tell((verdict.obstacle ? "Cause: " : "No worker is launched for it because of ") +
             obstacle->cause + " of " + obstacle->scope +
             (obstacle->until ? ", until " + format_time(*obstacle->until) : "") +
             ". Who can change it: " + obstacle->who + ".");
}

void tell_times(Story& story, const fleet::Times* times) {
  if (!times) return;
  const auto tell = [&](const char* what, const verdict::Durations& measured) {
    if (measured.empty()) return;
    story.tell(std::string(what) + ": p50 " + span_of(measured.quantile(0.5)) + ", p90 " +
               span_of(measured.quantile(0.9)) + " (last " + std::to_string(measured.size()) +
               ").");
  };
  tell("Launch time", times->boot);
  tell("Registration time", times->registration);
  tell("Lease time", times->lease);
}

// -------------------------------------------------------------------------------------------------
// Requests

std::string candidates_in_words(const queue::WaitingCapacity& candidates) {
  std::vector<std::string> pools;
  for (const WorkerPoolId& pool : candidates.pools) pools.push_back(pool.str());
  if (pools.empty())
    return candidates.shared ? "It may use the shared workers."
                             : "It may use only the workers of its team.";
  return "It may use the workers of " + listed(pools) +
         (candidates.shared ? ", and shared workers when none of those has room." : ".");
}

Story story_of(const queue::Request& request, const Fleet& fleet, Now now) {
  const queue::Queue& queue = fleet.queue();
  const queue::Line& line = queue.lines()[request.line];
  const queue::Team& team = queue.teams()[request.team];
  Story story{.kind = "request", .document = request_document(request, fleet, now)};
  story.tell("Request " + std::to_string(request.number) + " of team " + team.id.str() +
             " asked for " + queue::in_words(request.needs) +
             (line.tags.empty() ? "" : ", tags " + listed(line.tags)) + " " +
             span_of(now.wall - request.created) + " ago" +
             (request.client.empty() ? "" : ", as " + request.client) + ".");
  if (request.state == queue::RequestState::ended) {
    story.tell("It ended at " + format_time(request.ended) + ": " + request.reason + ".");
    return story;
  }
  story.verdict = fleet.verdict_of(request, now);
  if (request.state == queue::RequestState::held)
    story.tell("It waited " + span_of(request.granted - request.created) +
               " and has its worker for " + span_of(now.wall - request.granted) +
               (request.until == Time{} ? "" : ", until " + format_time(request.until)) + ".");
  else
    story.tell(candidates_in_words(queue.candidates_of(request)));
  tell_verdict(story, fleet, now);
  story.tell("Team " + team.id.str() + " holds " + std::to_string(team.held) +
             (team.max_held > 0 ? " of at most " + std::to_string(team.max_held) : "") + ", and " +
             count_of(team.pending, "of its requests waits", "of its requests wait") + ".");
  return story;
}

// -------------------------------------------------------------------------------------------------
// Pools, launch configurations, workers

// A pause of all launch configurations: a verdict about the size of the pool does not tell it.
void tell_pause(Story& story, const fleet::Pool& pool, const Fleet& fleet) {
  const Time until = paused_until(fleet, pool);
  if (until == Time{}) return;
  std::string reason;
  for (const fleet::Index at : pool.launch_configs)
    if (reason.empty()) reason = fleet.launch_configs()[at].pause_reason;
  const std::string end = format_time(until);
  story.tell("It is paused and launches nothing until " +
             (end.starts_with("9999") ? "it is resumed" : end) +
             (reason.empty() ? "" : ": " + reason) + ". To end the pause: muster pool resume " +
             pool.id.str() + ".");
}

Story story_of(const fleet::Pool& pool, const Fleet& fleet, Now now) {
  Story story{.kind = "workerPool",
              .verdict = fleet.verdict_of(pool, now),
              .document = pool_detail(fleet, pool, now)};
  story.tell("Worker pool " + pool.id.str() + " has " + fleet::in_words(pool.totals) + "; " +
             std::to_string(pool.demand.pending) + " pending, " + std::to_string(pool.in_queue) +
             " of them in the queue of this host.");
  tell_verdict(story, fleet, now);
  tell_pause(story, pool, fleet);
  if (const queue::TeamPool* known = fleet.queue().find_pool(pool.id); known && known->dedicated) {
    std::vector<std::string> teams;
    for (const queue::Index team : known->teams)
      teams.push_back(fleet.queue().teams()[team].id.str());
    story.tell(teams.empty() ? "It is dedicated to teams, and none is attached."
                             : (teams.size() == 1 ? "It serves team " : "It serves teams ") +
                                   listed(teams) + ".");
  }
  tell_times(story, pool.times.get());
  return story;
}

Story story_of(fleet::Index index, const Fleet& fleet, Now now) {
  const fleet::LaunchConfigState& launch_config = fleet.launch_configs()[index];
  const fleet::Pool& pool = fleet.pools()[launch_config.pool];
  const fleet::Weights weights = fleet.weights_of(pool, now.wall);
  Story story{.kind = "launchConfig",
              .verdict = fleet.verdict_of(index, weights, now),
              .document = launch_config_document(fleet, index, weights, now)};
  story.tell("Launch configuration " + launch_config.spec->launch_config.launch_config_id.str() +
             " of pool " + pool.id.str() + " is " + name_of(launch_config.status) +
             " and launches with provider " + launch_config.spec->provider_id.str() + ": " +
             fleet::in_words(launch_config.totals) + ".");
  tell_verdict(story, fleet, now);
  for (const auto& [at, weight] : weights)
    if (at == index)
      story.tell("Weight " + two_digits(weight.value) + ": " + weight.arithmetic + ".");
  const bidding::HealthCounts health = launch_config.health.last_hour(now.wall);
  story.tell("In the last hour: " + count_of(health.tried, "launch", "launches") + ", " +
             std::to_string(health.failed) + " failed, " + std::to_string(health.registered) +
             " registered, " + std::to_string(health.claimed) + " took work.");
  tell_times(story, launch_config.times.get());
  return story;
}

Story story_of(const fleet::Worker& worker, const Fleet& fleet, Now now) {
  Story story{.kind = "worker", .document = worker_document(fleet, worker)};
  const fleet::Pool& pool = fleet.pools()[worker.pool];
  story.tell("Worker " + worker.worker_id + " of pool " + pool.id.str() + " is " +
             name_of(worker.state) + " since " + span_of(now.wall - worker.since) + ": " +
             worker.reason + ".");
  if (worker.drain != fleet::Drain::none)
    story.tell("It takes no new work: it is " + name_of(worker.drain) + ".");
  const queue::Queue& queue = fleet.queue();
  const queue::Worker* known = queue.find_worker(worker.number);
  if (!known) return story;
  story.tell("It has " + queue::in_words(known->has) +
             (known->tags.empty() ? "" : ", tags " + listed(known->tags)) +
             "; in use: " + (known->leases.empty() ? "nothing" : queue::in_words(known->used)) +
             (known->elsewhere > 0 ? ", and " + std::to_string(known->elsewhere) +
                                         " active-task of work from elsewhere"
                                   : "") +
             ".");
  for (const queue::Index lease : known->leases) {
    const queue::Request& request = queue.requests()[lease];
    story.tell("Request " + std::to_string(request.number) + " of team " +
               queue.teams()[request.team].id.str() + " holds " + queue::in_words(request.needs) +
               " of it for " + span_of(now.wall - request.granted) + ".");
  }
  if (known->reserved_for != queue::no_index)
    story.tell("It is reserved for team " +
               queue.teams()[queue.lines()[known->reserved_for].team].id.str() +
               ", whose next request needs more than it has left.");
  return story;
}

// -------------------------------------------------------------------------------------------------
// Who is meant

std::optional<std::int64_t> number_in(const std::string& text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  return number;
}

// A request's number, the id of a pool (or its worker type) or of a launch configuration, or a
// worker as workerGroup/workerId.
std::vector<Story> find_stories(const std::string& subject, const Fleet& fleet, Now now) {
  if (const auto number = number_in(subject))
    if (const queue::Request* request = fleet.queue().find(*number))
      return {story_of(*request, fleet, now)};
  for (const std::string& id : {subject, "worker-manager/" + subject})
    if (const fleet::Pool* pool = fleet.find_pool(WorkerPoolId(id)))
      return {story_of(*pool, fleet, now)};
  for (fleet::Index at = 0; at < fleet.launch_configs().size(); ++at)
    if (!fleet.launch_configs()[at].removed() &&
        fleet.launch_configs()[at].spec->launch_config.launch_config_id.str() == subject)
      return {story_of(at, fleet, now)};
  std::vector<Story> stories;
  if (const std::size_t slash = subject.find('/'); slash != std::string::npos)
    for (const fleet::Worker* worker : fleet.find_workers(WorkerGroup(subject.substr(0, slash)),
                                                          WorkerId(subject.substr(slash + 1))))
      stories.push_back(story_of(*worker, fleet, now));
  return stories;
}

void tell_rule(Story& story, const Call& call, json::object& answer) {
  const verdict::Obstacle* obstacle = cause_in(story);
  if (!obstacle || obstacle->key.empty()) return;
  auto rule = find_responsible_rule(call, obstacle->pool, obstacle->launch_config, obstacle->key);
  if (!rule) return;
  const auto text = [&](const char* key) { return json::write((*rule)[key]); };
  const auto name = [&](const char* key) { return std::string((*rule)[key].as_string()); };
  story.tell(name("file") + ":" + text("line") + ":" + text("column") + ": rule \"" + name("rule") +
             "\" sets " + name("key") + " = " + text("value") + ".");
  answer["rule"] = std::move(*rule);
}

Answer tell_why(const Call& call) {
  const std::string subject = call.query().text("subject");
  if (subject.empty())
    return input_error(
        "`subject` is missing: name a request, a pool, a launch configuration, or "
        "a worker as workerGroup/workerId");
  std::vector<Story> stories;
  call.host().fleet->read(
      [&](const Fleet& fleet, Now now) { stories = find_stories(subject, fleet, now); });
  if (stories.empty())
    return not_found(subject +
                     " is not a request, pool, launch configuration or worker "
                     "(workerGroup/workerId) of this host");
  json::array told;
  for (Story& story : stories) {
    json::object answer{{"kind", story.kind}};
    if (story.verdict) answer["verdict"] = verdict_document(*story.verdict);
    tell_rule(story, call, answer);
    answer["story"] = codec::to_value(story.sentences);
    answer[story.kind] = std::move(story.document);
    told.push_back(std::move(answer));
  }
  return json_answer(json::object{{"subject", subject}, {"stories", std::move(told)}});
}

// -------------------------------------------------------------------------------------------------
// When

Answer show_expectations(const Call&, const Fleet& fleet, Now) {
  const verdict::Calibration::Score& score = fleet.queue().calibration().last();
  json::object answer{{"expectations", score.expectations},
                      {"keptP50", score.kept_p50},
                      {"keptP90", score.kept_p90}};
  json::array launch_configs;
  for (const fleet::LaunchConfigState& launch_config : fleet.launch_configs()) {
    if (launch_config.removed() || !launch_config.times) continue;
    launch_configs.push_back(
        json::object{{"workerPoolId", fleet.pools()[launch_config.pool].id.str()},
                     {"launchConfigId", launch_config.spec->launch_config.launch_config_id.str()},
                     {"times", times_document(*launch_config.times)}});
  }
  answer["launchConfigs"] = std::move(launch_configs);
  return json_answer(answer);
}

}  // namespace

std::vector<Endpoint> explanation_endpoints() {
  return {
      {.name = "tellWhy",
       .method = "GET",
       .path = base + "/why",
       .scopes = all_of({"muster:get:why"}),
       .handler = OnWorkerThreadWithFleet{tell_why},
       .query = {parameter::subject},
       .output = "Why",
       .errors = {bad_input, missing, unavailable},
       .category = "queue",
       .title = "Why something is where it is, in words"},
      {.name = "showExpectations",
       .method = "GET",
       .path = base + "/expectations",
       .scopes = all_of({"muster:get:queue"}),
       .handler = show_expectations,
       .output = "Expectations",
       .errors = {unavailable},
       .category = "queue",
       .title = "How long workers and leases take, and how often what was expected came true"},
  };
}

}  // namespace muster::api
