// Something that needs a person, as long as it lasts.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <muster/context.hpp>
#include <muster/fields.hpp>

namespace muster::notifications {

// Words of configurations, messages and metrics.
namespace cause {
inline constexpr const char* pool_blocked = "poolBlocked";
inline constexpr const char* worker_errors = "workerErrors";
inline constexpr const char* provider_down = "providerDown";
inline constexpr const char* configuration_refused = "configurationRefused";
inline constexpr const char* store_read_only = "storeReadOnly";
inline constexpr const char* store_needs_attention = "storeNeedsAttention";
inline constexpr const char* certificate_expires = "certificateExpires";
inline constexpr const char* credential_expires = "credentialExpires";
}  // namespace cause

struct Condition {
  std::string cause;
  std::string subject;     // "proj/build", "ec2-us": with the cause, what it is
  std::string text;        // a sentence or two: what is wrong and what to do
  std::string owner = {};  // the address of the pool's owner, who wants mail; may be anything

  static constexpr auto fields(auto visit) {
    return visit(required("cause", &Condition::cause), required("subject", &Condition::subject),
                 required("text", &Condition::text), optional("owner", &Condition::owner));
  }
};

enum class ItemKind { began, lasts, resolved };
constexpr auto enum_names(ItemKind) {
  return std::array<std::string_view, 3>{"began", "lasts", "resolved"};
}

// One line of a message.
struct Item {
  ItemKind kind = ItemKind::began;
  std::string cause, subject, text;
  Time since{}, at{};

  static constexpr auto fields(auto visit) {
    return visit(required("kind", &Item::kind), required("cause", &Item::cause),
                 required("subject", &Item::subject), required("text", &Item::text),
                 required("since", &Item::since), required("at", &Item::at));
  }
};

struct Message {
  std::string recipient;    // "mail", "mail:team@example.com", "chat:ops"
  std::vector<Item> items;  // the oldest first
  std::int64_t left_out = 0;
};

}  // namespace muster::notifications
