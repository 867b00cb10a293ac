// How the records of the fleet are named in sentences.
#pragma once

#include <string>

#include "host/fleet/model/registration.hpp"
#include "host/fleet/model/state.hpp"

namespace muster::fleet {

// "3 running, 1 requested, 2 draining"
std::string in_words(const Totals& totals);
// "worker i-1 of p/w in us-east-1"
std::string in_words(const WorkerName& name);

// The id of an error for clients: a version 4 UUID in 22 letters, made of the host and the number.
std::string error_id(const std::string& host_id, std::int64_t number);

// Names a decision's inputs: 16 hexadecimal digits of SHA-256.
std::string short_digest(const std::string& bytes);

}  // namespace muster::fleet
