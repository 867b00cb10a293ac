#include "relay/counters.hpp"

#include <algorithm>

#include "lib/metrics/metrics.hpp"
#include "relay/dns_resolver.hpp"
#include "relay/verifier.hpp"

namespace muster::relay {
namespace {

constexpr std::array<const char*, registration_outcome_count> outcome_names{
    "registered",        "hostRefused",   "hostFailed",     "relayRefused",     "senderUnclear",
    "addressNotAllowed", "noReverseName", "nameNotAllowed", "nameNotConfirmed", "dnsFailed",
    "rateLimited",       "tooBusy",       "badRequest"};
constexpr std::array<const char*, 6> status_names{"none", "1xx", "2xx", "3xx", "4xx", "5xx"};

double number(std::uint64_t value) {
  return static_cast<double>(value);
}

}  // namespace

const char* to_string(RegistrationOutcome outcome) {
  return outcome_names.at(static_cast<std::size_t>(outcome));
}

const char* decision_of(RegistrationOutcome outcome) {
  switch (outcome) {
    case RegistrationOutcome::registered:
      return "accepted";
    case RegistrationOutcome::host_failed:
    case RegistrationOutcome::relay_refused:
    case RegistrationOutcome::dns_failed:
    case RegistrationOutcome::too_busy:
      return "failed";
    default:
      return "refused";
  }
}

void DurationHistogram::add(std::chrono::nanoseconds took) {
  const double seconds = std::chrono::duration<double>(took).count();
  const auto bucket = std::lower_bound(bounds.begin(), bounds.end(), seconds) - bounds.begin();
  ++counts_[static_cast<std::size_t>(bucket)];
  nanoseconds_ += static_cast<std::uint64_t>(std::max<std::int64_t>(0, took.count()));
}

void DurationHistogram::write(metrics::Page& page, const char* name, const char* help) const {
  metrics::Histogram histogram{{bounds.begin(), bounds.end()}, {}, number(nanoseconds_) / 1e9};
  for (const auto& count : counts_) histogram.counts.push_back(count);
  page.histogram(name, help, histogram);
}

void Counters::count(RegistrationOutcome outcome, std::chrono::nanoseconds took) {
  ++answers[static_cast<std::size_t>(outcome)];
  answer_times.add(took);
}

void Counters::count_host(long status, std::chrono::nanoseconds took) {
  ++host_answers[status >= 100 && status < 600 ? static_cast<std::size_t>(status / 100) : 0];
  host_times.add(took);
}

void write_metrics(metrics::Page& page, const Counters& counters, const Verifier& verifier,
                   const DnsResolver& resolver) {
  for (std::size_t i = 0; i < registration_outcome_count; ++i)
    page.counter("muster_relay_answers_total", "Answers to machines, by how they ended",
                 number(counters.answers[i]), {{"outcome", outcome_names[i]}});
  counters.answer_times.write(page, "muster_relay_answer_seconds",
                              "From a machine's request to its answer");
  for (std::size_t i = 0; i < status_names.size(); ++i)
    page.counter("muster_relay_host_answers_total", "Answers of the host, by status",
                 number(counters.host_answers[i]), {{"status", status_names[i]}});
  counters.host_times.write(page, "muster_relay_host_seconds", "What the host took to answer");
  for (const bool reverse : {true, false})
    for (std::size_t i = 0; i < dns_results; ++i) {
      const auto result = static_cast<DnsResult>(i);
      page.counter("muster_relay_dns_questions_total", "Questions to DNS servers, by result",
                   number(resolver.counted(reverse, result)),
                   {{"direction", reverse ? "reverse" : "forward"}, {"result", to_string(result)}});
    }
  static constexpr std::array<std::pair<Source, const char*>, sources> names{
      {{Source::cache, "cache"},
       {Source::shared_lookup, "sharedLookup"},
       {Source::own_lookup, "lookup"},
       {Source::too_busy, "none"}}};
  for (const auto& [source, name] : names)
    page.counter("muster_relay_verdicts_total", "Where verdicts about addresses came from",
                 number(verifier.counted(source)), {{"source", name}});
  page.gauge("muster_relay_cache_entries", "Verdicts that are remembered",
             number(verifier.cached()));
  page.gauge("muster_relay_lookups_running", "Addresses that are being looked up",
             number(verifier.running()));
  page.counter("muster_relay_audit_lines_lost_total",
               "Lines that could not be written to the audit's file",
               number(counters.audit_lines_lost));
}

}  // namespace muster::relay
