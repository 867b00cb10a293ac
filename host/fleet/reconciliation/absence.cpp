#include "host/fleet/reconciliation/absence.hpp"

namespace muster::fleet {
namespace {

std::string in_seconds(milliseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
}

}  // namespace

milliseconds needed_silence(const Absence& absence) {
  if (absence.doubted) return absence.reports ? doubted_missing : doubted_other_silent;
  return absence.reports ? reporter_silent : other_silent;
}

bool is_large_share(std::size_t missing, std::size_t expected) {
  return missing >= 2 && 4 * missing >= expected;
}

bool is_gone(const Absence& absence) {
  if (absence.heard_since && !absence.declared) return false;
  if (absence.stated || absence.taken) return true;
  if (absence.listings < listings_to_be_gone) return false;
  if (!absence.registered || absence.declared)
    return absence.missing >= (absence.doubted ? doubted_missing : unregistered_missing);
  // What could not be heard is no silence.
  return absence.may_judge && absence.silent >= needed_silence(absence) &&
         (!absence.doubted || absence.missing >= doubted_missing);
}

std::string why_gone(const Absence& absence) {
  if (absence.stated) return "the provider stopped it";
  const std::string lists = "the provider's last " + std::to_string(absence.listings) +
                            (absence.listings == 1 ? " list lacks it" : " lists lack it");
  if (absence.taken) return "the provider took it away, as it had announced: " + lists;
  const std::string doubts =
      absence.doubted ? "; many others were missing with it, so it was waited for longer" : "";
  if (absence.declared)
    return "its provider no longer names it: " + lists + ", for " + in_seconds(absence.missing) +
           doubts;
  return "it vanished: " + lists + ", for " + in_seconds(absence.missing) +
         (absence.registered ? ", and it was last heard of " + in_seconds(absence.silent) + " ago"
                             : ", and it has never registered") +
         doubts;
}

}  // namespace muster::fleet
