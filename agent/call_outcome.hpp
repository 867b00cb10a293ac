// What the host's answer to a call means for the caller.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace muster::agent {

struct CallOutcome {
  enum class Kind {
    done,
    try_again,    // out of reach, overloaded, or an answer that the host did not write
    wrong_clock,  // our time was wrong; by now we know the host's
    unknown,      // 404
    refused,      // cannot get better by asking again
    gone,         // 410: no longer current
  };
  Kind kind = Kind::try_again;
  std::string why = {};                                           // a sentence for people
  std::optional<std::chrono::milliseconds> after = std::nullopt;  // the host's Retry-After
};

}  // namespace muster::agent
