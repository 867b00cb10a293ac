// A mail as it travels: headers and a body of text.
#pragma once

#include <string>
#include <vector>

#include <muster/context.hpp>

namespace muster::mail {

// Addresses have passed is_address(). The subject and the text may hold anything.
struct Message {
  std::string from;
  std::vector<std::string> to;
  std::string subject;
  std::string text;
  std::string id;  // of Message-ID, before the @: letters, digits and dots
  Time at{};
};

// With lines that end in CR LF. A subject is one line; a text that is not plain ASCII is encoded,
// so that no byte of either can be taken for a header or for the end of the mail.
std::string to_text(const Message& message);

}  // namespace muster::mail
