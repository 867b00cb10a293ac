#include "relay/dns_message.hpp"

#include <algorithm>

namespace muster::relay {
namespace {

using Bytes = std::span<const unsigned char>;

constexpr unsigned class_in = 1;
constexpr std::size_t longest_wire_name = 255;
constexpr std::uint32_t longest_ttl = 0x7fffffff;  // RFC 2181: above that it means nothing

// Reads on as long as all went well; then everything is zero.
class MessageReader {
 public:
  explicit MessageReader(Bytes bytes) : bytes_(bytes) {}

  bool good() const { return good_; }
  std::size_t at() const { return at_; }
  // What was read makes no sense.
  void refuse() { fail(); }

  unsigned u8() {
    if (at_ >= bytes_.size()) return fail(), 0;
    return bytes_[at_++];
  }
  unsigned u16() {
    const unsigned high = u8();
    return high << 8 | u8();
  }
  std::uint32_t u32() {
    const std::uint32_t high = u16();
    return high << 16 | u16();
  }
  std::uint32_t ttl() {
    const std::uint32_t seconds = u32();
    return seconds > longest_ttl ? 0 : seconds;
  }
  Bytes take(std::size_t size) {
    if (size > bytes_.size() - at_) return fail(), Bytes();
    at_ += size;
    return bytes_.subspan(at_ - size, size);
  }

  // Pointers may only point backwards, each behind the one before it: so there is no circle.
  std::string name() {
    std::string text;
    std::size_t size = 1, lowest = at_, behind = 0;
    for (;;) {
      const unsigned length = u8();
      if (!good_ || length == 0) break;
      if (length >= 0xc0) {
        const std::size_t target = (length & 0x3fu) << 8 | u8();
        if (behind == 0) behind = at_;
        if (target >= lowest) return fail(), text;
        lowest = at_ = target;
        continue;
      }
      size += length + 1;
      if (length > longest_label || size > longest_wire_name) return fail(), text;
      append_label(text, take(length));
    }
    if (behind != 0 && good_) at_ = behind;
    return text;
  }

 private:
  void fail() {
    good_ = false;
    at_ = bytes_.size();
  }
  Bytes bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};

void read_address(MessageReader& reader, std::size_t size, Record& record) {
  const bool v4 = record.type == RecordType::a;
  if (size != (v4 ? 4u : 16u)) {
    reader.refuse();
    return;
  }
  if (v4) record.address = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  const Bytes bytes = reader.take(size);
  std::copy(bytes.begin(), bytes.end(), record.address.begin() + (v4 ? 12 : 0));
}

struct Entry {
  Record record;
  bool wanted = false;
  std::uint32_t minimum = 0;  // of an soa
};

Entry read_record(MessageReader& reader) {
  Entry entry;
  entry.record.owner = reader.name();
  const unsigned type = reader.u16(), record_class = reader.u16();
  entry.record.ttl = reader.ttl();
  const std::size_t size = reader.u16(), end = reader.at() + size;
  entry.record.type = static_cast<RecordType>(type);
  entry.wanted = record_class == class_in;
  switch (entry.wanted ? entry.record.type : RecordType{}) {
    case RecordType::a:
    case RecordType::aaaa:
      read_address(reader, size, entry.record);
      break;
    case RecordType::cname:
    case RecordType::ptr:
      entry.record.target = reader.name();
      break;
    case RecordType::soa:
      reader.name();
      reader.name();
      reader.take(16);
      entry.minimum = reader.ttl();
      break;
    default:
      entry.wanted = false;
      reader.take(size);
  }
  if (reader.good() && reader.at() != end) reader.refuse();  // its length was a lie
  return entry;
}

}  // namespace

const char* to_string(RecordType type) {
  switch (type) {
    case RecordType::a:
      return "A";
    case RecordType::cname:
      return "CNAME";
    case RecordType::soa:
      return "SOA";
    case RecordType::ptr:
      return "PTR";
    case RecordType::aaaa:
      return "AAAA";
  }
  return "?";
}

Result<Message> parse_message(Bytes bytes) {
  MessageReader reader(bytes);
  Message message;
  reader.u16();  // the id, which the channel has compared
  const unsigned flags = reader.u16();
  message.response_code = flags & 15u;
  const unsigned questions = reader.u16(), answers = reader.u16(), authorities = reader.u16();
  reader.u16();
  for (unsigned i = 0; i < questions && reader.good(); ++i) {
    reader.name();
    reader.take(4);
  }
  for (unsigned i = 0; i < answers && reader.good(); ++i)
    if (Entry entry = read_record(reader); entry.wanted && entry.record.type != RecordType::soa)
      message.answers.push_back(std::move(entry.record));
  for (unsigned i = 0; i < authorities && reader.good(); ++i)
    if (const Entry entry = read_record(reader);
        entry.wanted && entry.record.type == RecordType::soa)
      message.negative_ttl = std::min(entry.record.ttl, entry.minimum);
  if (!reader.good()) return Error::invalid("a DNS server sent a message that makes no sense");
  return message;
}

}  // namespace muster::relay
