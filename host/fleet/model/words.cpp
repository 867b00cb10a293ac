#include "host/fleet/model/words.hpp"

#include "lib/base/secret.hpp"

namespace muster::fleet {

std::string in_words(const Totals& totals) {
  std::string text = std::to_string(totals.running) + " running, " +
                     std::to_string(totals.requested) + " requested";
  const auto add = [&](std::int64_t count, const char* what) {
    if (count > 0) text += ", " + std::to_string(count) + what;
  };
  add(totals.lost, " maybe launched");
  add(totals.draining, " draining");
  add(totals.stopping, " stopping");
  add(totals.absent, " absent");
  return text;
}

std::string in_words(const WorkerName& name) {
  return "worker " + name.worker_id.str() + " of " + name.worker_pool_id.str() + " in " +
         name.worker_group.str();
}

std::string error_id(const std::string& host_id, std::int64_t number) {
  Sha256 bytes = sha256(host_id + " error " + std::to_string(number));
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string text;
  unsigned bits = 0;
  int held = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    bits = bits << 8 | bytes[i];
    for (held += 8; held >= 6; held -= 6) text += letters[bits >> (held - 6) & 63];
  }
  return text += letters[bits << (6 - held) & 63];
}

std::string short_digest(const std::string& bytes) {
  return to_hex(sha256(bytes)).substr(0, 16);
}

}  // namespace muster::fleet
