// Names as the DNS has them, as text. Pure functions.
//
// Text form: labels in lower case with dots between them and none at the end; a byte that is no
// letter, digit, '-' or '_' is written as a backslash and three decimal digits. So two names are
// the same if and only if their texts are, and no byte of a name can be mistaken for another.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/base/networks.hpp"

namespace muster::relay {

inline constexpr std::size_t longest_name = 253;
inline constexpr std::size_t longest_label = 63;

// Appends one label of a name, which has none of the bytes' usual meanings.
void append_label(std::string& name, std::span<const unsigned char> label);

// A name that may stand for a machine: letters, digits, '-' and '_' in labels of 1 to 63, no more
// than 253 in all, no '-' at either end of a label. In lower case and without the dot at its end;
// nothing if the text is no such name.
std::optional<std::string> host_name(std::string_view text);

bool is_v4(const Address& address);
// "192.0.2.7", "2001:db8::7": IPv4 never in its IPv6 form.
std::string to_text(const Address& address);
// "7.2.0.192.in-addr.arpa", or the 32 digits under ip6.arpa.
std::string reverse_name(const Address& address);

}  // namespace muster::relay
