// A message in words: the subject and text of a mail, and the body of a chat's webhook. Pure.
#pragma once

#include <string>
#include <string_view>

#include "host/notifications/condition.hpp"

namespace muster::notifications {

// "muster: 2 new, 1 resolved (poolBlocked proj/build, ...)"
std::string subject_of(const Message& message);
// One paragraph for each item; `url` is where the host serves.
std::string text_of(const Message& message, std::string_view url);

// The template with {{title}} and {{text}} replaced by what stands for them inside a JSON string.
// Neither can address a channel or everybody: signs that chats give a meaning to are disarmed.
std::string chat_body(std::string_view pattern, const Message& message, std::string_view url);

}  // namespace muster::notifications
