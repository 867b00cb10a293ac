// What the DNS says, as lines: "m1.dc 30 A 10.1.0.7". Types: A, AAAA, PTR, CNAME (the answer holds
// what it leads to), CNAME-ALONE (it does not), STRAY (an answer that holds a record of another
// owner), NXDOMAIN (the seconds are those of the zone). "m1.dc ! timedOut": questions about it
// fail.
#pragma once

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "relay/name_verification.hpp"

namespace muster::relay {

class Zone {
 public:
  explicit Zone(const std::string& lines) {
    std::istringstream in(lines);
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      Line read;
      std::string seconds;
      words >> read.owner >> seconds;
      if (seconds == "!") {
        words >> read.content;
        read.type = "!";
      } else {
        words >> read.type >> read.content >> read.more;
        read.ttl = static_cast<std::uint32_t>(std::stoul(seconds));
      }
      lines_.push_back(std::move(read));
    }
  }

  DnsAnswer answer(const Question& question) const {
    DnsAnswer answer;
    bool known = false;
    std::vector<std::string> names{question.name};
    for (std::size_t i = 0; i < names.size() && i < 20; ++i) {
      for (const Line& line : lines_) {
        if (line.owner != names[i]) continue;
        known = true;
        if (line.type == "!") return {failure(line.content)};
        if (line.type == "NXDOMAIN") return {DnsResult::no_such_name, {}, line.ttl};
        if (line.type == to_string(question.type)) answer.records.push_back(record(line));
        if (line.type == "STRAY")
          answer.records.push_back(
              {line.content, RecordType::a, line.ttl, "", *parse_address(line.more)});
        if (line.type.starts_with("CNAME")) {
          answer.records.push_back(
              {line.owner, RecordType::cname, line.ttl, as_read(line.content)});
          if (line.type == "CNAME" &&
              std::find(names.begin(), names.end(), line.content) == names.end())
            names.push_back(line.content);
        }
      }
    }
    if (!known) return {DnsResult::no_such_name};
    if (answer.records.empty()) answer.result = DnsResult::no_such_record;
    return answer;
  }

 private:
  struct Line {
    std::string owner, type, content, more;
    std::uint32_t ttl = 0;
  };

  // As names come out of a message.
  static std::string as_read(std::string name) {
    if (name.ends_with('.')) name.pop_back();
    for (char& c : name)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return name;
  }
  static Record record(const Line& line) {
    if (line.type == "PTR") return {line.owner, RecordType::ptr, line.ttl, as_read(line.content)};
    return {line.owner, line.type == "A" ? RecordType::a : RecordType::aaaa, line.ttl, "",
            *parse_address(line.content)};
  }
  static DnsResult failure(const std::string& word) {
    for (std::size_t i = 0; i < dns_results; ++i)
      if (word == to_string(static_cast<DnsResult>(i))) return static_cast<DnsResult>(i);
    throw std::runtime_error("there is no result " + word);
  }

  std::vector<Line> lines_;
};

}  // namespace muster::relay
