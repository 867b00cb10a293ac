// Who has a port, for the sentence that an operator reads when it is taken.
#pragma once

#include <cstdint>
#include <string>

namespace muster::http {

// "pid 4711 (nginx)", as far as /proc lets this user see; else "another process".
std::string owner_of_port(std::uint16_t port);

}  // namespace muster::http
