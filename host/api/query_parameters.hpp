// The query parameters of muster's own API. Each is described by a file of schemas/parameters.
#pragma once

#include "host/endpoints/endpoint.hpp"
#include "host/identifiers/identifiers.hpp"

namespace muster::api::parameter {

using endpoints::QueryParameter;

inline constexpr QueryParameter after{.name = "after"};
inline constexpr QueryParameter after_event{.name = "after", .description = "afterEvent"};
inline constexpr QueryParameter after_letter{.name = "after", .description = "afterLetter"};
inline constexpr QueryParameter before{.name = "before"};
inline constexpr QueryParameter decision_kind{.name = "kind", .description = "decisionKind"};
inline constexpr QueryParameter digest{.name = "digest"};
inline constexpr QueryParameter error_kind{.name = "kind", .description = "errorKind"};
inline constexpr QueryParameter evaluated_launch_config{.name = "launchConfigId",
                                                        .pattern = &identifiers::launch_config_id,
                                                        .description = "evaluatedLaunchConfig"};
inline constexpr QueryParameter evaluated_pool{.name = "workerPoolId",
                                               .pattern = &identifiers::worker_pool_id,
                                               .description = "evaluatedPool"};
inline constexpr QueryParameter event_kind{
    .name = "kind", .description = "eventKind", .repeated = true};
inline constexpr QueryParameter event_limit{.name = "limit", .description = "eventLimit"};
inline constexpr QueryParameter fact{.name = "fact", .repeated = true};
inline constexpr QueryParameter hold_scope{.name = "scope", .description = "holdScope"};
inline constexpr QueryParameter if_match{
    .name = "If-Match", .description = "ifMatch", .header = true};
inline constexpr QueryParameter if_none_match{
    .name = "If-None-Match", .description = "ifNoneMatch", .header = true};
inline constexpr QueryParameter key{.name = "key"};
inline constexpr QueryParameter last_event_id{
    .name = "Last-Event-ID", .description = "lastEventId", .header = true};
inline constexpr QueryParameter last_events{.name = "last", .description = "lastEvents"};
inline constexpr QueryParameter launch_config_status{.name = "status",
                                                     .description = "launchConfigStatus"};
inline constexpr QueryParameter limit{.name = "limit"};
inline constexpr QueryParameter log_from{.name = "from", .description = "logFrom"};
inline constexpr QueryParameter of_launch_config{.name = "launchConfigId",
                                                 .pattern = &identifiers::launch_config_id,
                                                 .description = "ofLaunchConfig"};
inline constexpr QueryParameter of_pool{
    .name = "workerPoolId", .pattern = &identifiers::worker_pool_id, .description = "ofPool"};
inline constexpr QueryParameter of_provider{
    .name = "providerId", .pattern = &identifiers::name, .description = "ofProvider"};
inline constexpr QueryParameter of_team{
    .name = "team", .pattern = &identifiers::name, .description = "ofTeam"};
inline constexpr QueryParameter of_worker{
    .name = "workerId", .pattern = &identifiers::name, .description = "ofWorker"};
inline constexpr QueryParameter of_worker_configuration{.name = "workerConfiguration",
                                                        .description = "ofWorkerConfiguration"};
inline constexpr QueryParameter offset{.name = "offset"};
inline constexpr QueryParameter outcome{.name = "outcome"};
inline constexpr QueryParameter pool_sort{.name = "sort", .description = "poolSort"};
inline constexpr QueryParameter refused{.name = "refused"};
inline constexpr QueryParameter request_state{.name = "state", .description = "requestState"};
inline constexpr QueryParameter search{.name = "search"};
inline constexpr QueryParameter subject{.name = "subject"};
inline constexpr QueryParameter verdict{.name = "verdict"};
inline constexpr QueryParameter wait{.name = "wait"};
inline constexpr QueryParameter worker_state{
    .name = "state", .description = "workerState", .repeated = true};

}  // namespace muster::api::parameter
