// When a worker that its provider does not list is gone. Pure. docs/operating.md has the rule and
// its times for operators.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace muster::fleet {

using std::chrono::milliseconds;

// Clouds forget for a moment: so many listings in a row have to lack a worker.
inline constexpr int listings_to_be_gone = 2;
// Of a worker that has not registered there is nothing but listings to go by. A machine that its
// provider declares is there only because lists say so, however alive it is.
inline constexpr milliseconds unregistered_missing = std::chrono::seconds(30);
// An agent reports at least every 5 minutes that its worker is busy, and more often if it is idle.
inline constexpr milliseconds reporter_silent = std::chrono::minutes(6);
inline constexpr milliseconds other_silent = std::chrono::minutes(15);
// The same, while so much is missing at once that the listing is doubted.
inline constexpr milliseconds doubted_missing = std::chrono::minutes(15);
inline constexpr milliseconds doubted_other_silent = std::chrono::hours(1);

// A large share of the workers that are expected in one place is missing: that is the provider's
// trouble, and not that of so many workers.
bool is_large_share(std::size_t missing, std::size_t expected);

// A worker that the newest listing lacks.
struct Absence {
  bool stated = false;       // the provider says that it has stopped; else it says nothing
  bool taken = false;        // the provider had said that it takes it away, and did by now
  bool declared = false;     // it is the provider's own machine, there because lists name it
  bool registered = false;   // it was heard of once
  bool reports = false;      // it says again and again whether it is busy
  bool heard_since = false;  // it was heard of after the listing began
  bool may_judge = true;     // the host could hear it all the time
  bool doubted = false;      // a large share is missing
  int listings = 1;          // in a row that lack it
  milliseconds missing{0};   // since the first of them began
  milliseconds silent{0};    // since it was last heard of
};

// How long a worker that has registered must be silent to be gone.
milliseconds needed_silence(const Absence& absence);
// It is gone, as far as that can be known. Otherwise it counts as there.
bool is_gone(const Absence& absence);
// In words; for one that is gone.
std::string why_gone(const Absence& absence);

}  // namespace muster::fleet
