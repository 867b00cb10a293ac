// The answers of DNS servers, read from their bytes. Pure; nothing that a server sends makes it
// read outside of the message or go on for longer than the message is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <muster/error.hpp>

#include "relay/dns_name.hpp"

namespace muster::relay {

enum class RecordType : std::uint16_t { a = 1, cname = 5, soa = 6, ptr = 12, aaaa = 28 };
const char* to_string(RecordType type);

struct Record {
  std::string owner;
  RecordType type = RecordType::a;
  std::uint32_t ttl = 0;    // seconds
  std::string target = {};  // of cname and ptr
  Address address = {};     // of a and aaaa
  friend bool operator==(const Record&, const Record&) = default;
};

struct Message {
  unsigned response_code = 0;
  std::vector<Record> answers;  // of the types above, in the class IN, in their order
  // How long it holds that there is no such thing: what the zone's SOA says (RFC 2308).
  std::optional<std::uint32_t> negative_ttl;
};

// Fails as `invalid` if the message is cut, or says something that no message may.
Result<Message> parse_message(std::span<const unsigned char> bytes);

}  // namespace muster::relay
