#include "relay/name_verification.hpp"

#include <algorithm>

namespace muster::relay {
namespace {

constexpr std::size_t most_names_shown = 32;

std::string question_text(const Question& question) {
  return std::string(to_string(question.type)) + " " + question.name;
}

}  // namespace

const char* to_string(DnsResult result) {
  switch (result) {
    case DnsResult::answered:
      return "answered";
    case DnsResult::no_such_name:
      return "noSuchName";
    case DnsResult::no_such_record:
      return "noSuchRecord";
    case DnsResult::server_failure:
      return "serverFailure";
    case DnsResult::refused:
      return "refused";
    case DnsResult::timed_out:
      return "timedOut";
    case DnsResult::unreachable:
      return "unreachable";
    case DnsResult::malformed:
      return "malformed";
  }
  return "?";
}

const char* to_string(Finding finding) {
  switch (finding) {
    case Finding::accepted:
      return "accepted";
    case Finding::no_reverse_name:
      return "noReverseName";
    case Finding::name_not_allowed:
      return "nameNotAllowed";
    case Finding::name_not_confirmed:
      return "nameNotConfirmed";
    case Finding::dns_failed:
      return "dnsFailed";
  }
  return "?";
}

DnsAnswer to_answer(std::span<const unsigned char> bytes) {
  auto message = parse_message(bytes);
  if (!message) return {DnsResult::malformed};
  DnsAnswer answer{DnsResult::answered, std::move(message->answers), message->negative_ttl};
  switch (message->response_code) {
    case 0:
      if (answer.records.empty()) answer.result = DnsResult::no_such_record;
      return answer;
    case 2:
      return {DnsResult::server_failure};
    case 3:
      answer.result = DnsResult::no_such_name;
      answer.records.clear();
      return answer;
    default:
      return {DnsResult::refused};
  }
}

// Where the aliases of one answer lead.
struct NameVerification::Found {
  enum class End {
    records,    // here they are
    nothing,    // there are none
    elsewhere,  // the answer ends at an alias, whose target must be asked for
    no_end,     // a circle of aliases, or too many
  } end = End::nothing;
  std::vector<Record> records = {};
};

NameVerification::NameVerification(const Address& address, std::shared_ptr<const NameRules> rules)
    : address_(address), rules_(std::move(rules)) {
  about_ = reverse_name(address);
  question_ = Question{about_, RecordType::ptr};
  aliases_ = {about_};
}

void NameVerification::lives_for(std::uint32_t seconds) {
  ttl_ = std::min(ttl_.value_or(seconds), seconds);
}

// Records of other owners are of no interest, whatever the server wanted to say with them.
NameVerification::Found NameVerification::follow(const DnsAnswer& answer) {
  std::string name = question_->name;
  for (;;) {
    Found found;
    const Record* alias = nullptr;
    for (const Record& record : answer.records) {
      if (record.owner != name) continue;
      if (record.type == question_->type) found.records.push_back(record);
      if (record.type == RecordType::cname) alias = &record;
    }
    for (const Record& record : found.records) lives_for(record.ttl);
    if (!found.records.empty()) return found.end = Found::End::records, found;
    if (!alias) {
      const bool moved = name != question_->name;
      if (moved) question_->name = name;
      found.end = moved && answer.result == DnsResult::answered ? Found::End::elsewhere
                                                                : Found::End::nothing;
      return found;
    }
    lives_for(alias->ttl);
    name = alias->target;
    const bool circle = std::find(aliases_.begin(), aliases_.end(), name) != aliases_.end();
    aliases_.push_back(name);
    if (circle || aliases_.size() > rules_->max_aliases + 1)
      return found.end = Found::End::no_end, found;
  }
}

void NameVerification::take(const DnsAnswer& answer) {
  if (!question_) return;
  switch (answer.result) {
    case DnsResult::answered:
      break;
    case DnsResult::no_such_name:
    case DnsResult::no_such_record:
      lives_for(answer.negative_ttl.value_or(0));
      break;
    default:
      return fail(answer.result);
  }
  const Found found = follow(answer);
  if (found.end == Found::End::elsewhere) return;  // question_ is about the alias now
  if (question_->type == RecordType::ptr)
    take_names(found);
  else
    take_addresses(found);
}

void NameVerification::give_up(DnsResult why) {
  if (question_) fail(why);
}

void NameVerification::take_names(const Found& found) {
  std::vector<std::pair<std::size_t, std::string>> allowed;  // by the pattern that fits
  bool any_name = false;
  for (const Record& record : found.records) {
    if (verdict_.names_seen.size() < most_names_shown) verdict_.names_seen.push_back(record.target);
    const auto name = host_name(record.target);
    if (!name) continue;
    any_name = true;
    const auto fits = std::find_if(rules_->allowed.begin(), rules_->allowed.end(),
                                   [&](const NamePattern& p) { return p.matches(*name); });
    if (fits != rules_->allowed.end()) allowed.emplace_back(fits - rules_->allowed.begin(), *name);
  }
  std::sort(verdict_.names_seen.begin(), verdict_.names_seen.end());
  if (!any_name)
    return finish(Finding::no_reverse_name, found.records.empty()
                                                ? "the address has no name: there is no PTR record"
                                                : "none of the PTR records holds a host name");
  if (allowed.empty())
    return finish(Finding::name_not_allowed, "no pattern of allowedNames fits any of its names");
  std::sort(allowed.begin(), allowed.end());
  allowed.erase(std::unique(allowed.begin(), allowed.end()), allowed.end());
  if (allowed.size() > rules_->max_names) allowed.resize(rules_->max_names);
  for (auto candidate = allowed.rbegin(); candidate != allowed.rend(); ++candidate)
    candidates_.push_back(std::move(candidate->second));
  ask_about_next();
}

void NameVerification::take_addresses(const Found& found) {
  for (const Record& record : found.records)
    if (record.address == address_) {
      verdict_.name = about_;
      return finish(Finding::accepted, "its name resolves to its address");
    }
  ask_about_next();
}

void NameVerification::ask_about_next() {
  if (candidates_.empty())
    return finish(Finding::name_not_confirmed,
                  "the addresses of its allowed names do not contain the one that asks");
  about_ = std::move(candidates_.back());
  candidates_.pop_back();
  aliases_ = {about_};
  question_ = Question{about_, is_v4(address_) ? RecordType::a : RecordType::aaaa};
}

void NameVerification::fail(DnsResult why) {
  verdict_.failure = why;
  verdict_.name.clear();
  ttl_ = 0;
  finish(Finding::dns_failed, question_text(*question_) + ": " + to_string(why));
}

void NameVerification::finish(Finding finding, std::string reason) {
  verdict_.finding = finding;
  verdict_.reason = std::move(reason);
  verdict_.ttl = ttl_.value_or(0);
  question_.reset();
}

}  // namespace muster::relay
