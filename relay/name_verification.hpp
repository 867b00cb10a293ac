// Who an address is: the questions to the DNS and what follows from the answers. No I/O and no
// clock: the caller asks question() and hands the answer to take() until there is a verdict.
//
//   address → PTR names → those that an allowed pattern fits → A or AAAA of each, in order
//
// A name is believed only if its own addresses contain the one that asks. Of several, the one that
// fits the earliest pattern counts, and of those the first by alphabet, so that the order in which
// a server lists them means nothing. If a name that comes first cannot be looked up, the
// verification fails: otherwise a machine would change its name whenever a DNS server has a bad
// day.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "relay/dns_message.hpp"
#include "relay/name_pattern.hpp"

namespace muster::relay {

struct Question {
  std::string name;
  RecordType type = RecordType::ptr;
  friend bool operator==(const Question&, const Question&) = default;
};

enum class DnsResult {
  answered,
  no_such_name,    // NXDOMAIN
  no_such_record,  // the name is there, but nothing of that type
  server_failure,  // SERVFAIL, which a validating server also says of forged answers
  refused,         // or any other code of an error
  timed_out,
  unreachable,
  malformed,
};
inline constexpr std::size_t dns_results = 8;
const char* to_string(DnsResult result);

struct DnsAnswer {
  DnsResult result = DnsResult::answered;
  std::vector<Record> records = {};
  std::optional<std::uint32_t> negative_ttl = {};
};

// What the bytes of a server's answer say.
DnsAnswer to_answer(std::span<const unsigned char> message);

struct NameRules {
  std::vector<NamePattern> allowed;
  std::size_t max_names = 8;    // that are looked up; further ones are left out
  std::size_t max_aliases = 8;  // CNAMEs one after the other
};

enum class Finding {
  accepted,
  no_reverse_name,     // there is no usable PTR record
  name_not_allowed,    // there is, but no pattern fits
  name_not_confirmed,  // one fits, but its addresses do not contain this one
  dns_failed,          // try again later
};
inline constexpr std::size_t findings = 5;
const char* to_string(Finding finding);

struct Verdict {
  Finding finding = Finding::dns_failed;
  std::string name = {};                     // the accepted one
  std::vector<std::string> names_seen = {};  // what PTR records said, also those that are no names
  std::string reason = {};                   // a sentence, for the operator
  std::optional<DnsResult> failure = {};     // of dns_failed
  std::uint32_t ttl = 0;                     // seconds for which all that it rests on holds
};

class NameVerification {
 public:
  NameVerification(const Address& address, std::shared_ptr<const NameRules> rules);

  // Nothing: verdict() stands.
  const std::optional<Question>& question() const { return question_; }
  // The answer to question(); may come only while there is one.
  void take(const DnsAnswer& answer);
  // Nobody waits for the answer any longer.
  void give_up(DnsResult why);
  const Verdict& verdict() const { return verdict_; }

 private:
  struct Found;
  void take_names(const Found& found);
  void take_addresses(const Found& found);
  void ask_about_next();
  void fail(DnsResult why);
  void finish(Finding finding, std::string reason);
  void lives_for(std::uint32_t seconds);
  Found follow(const DnsAnswer& answer);

  const Address address_;
  const std::shared_ptr<const NameRules> rules_;
  std::optional<Question> question_;
  std::vector<std::string> candidates_;  // the next one last
  std::string about_;                    // the candidate, or the reverse name
  std::vector<std::string> aliases_;     // from about_ to question_->name
  std::optional<std::uint32_t> ttl_;
  Verdict verdict_;
};

}  // namespace muster::relay
