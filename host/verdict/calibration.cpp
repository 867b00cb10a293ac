#include "host/verdict/calibration.hpp"

namespace muster::verdict {
namespace {

constexpr std::uint8_t p50_kept = 1, p90_kept = 2;

void count(Calibration::Score& score, std::uint8_t kept, std::int64_t sign) {
  score.expectations += sign;
  if (kept & p50_kept) score.kept_p50 += sign;
  if (kept & p90_kept) score.kept_p90 += sign;
}

}  // namespace

void Calibration::happened(const Eta& expected, Time at) {
  add(at <= expected.p50, at <= expected.p90);
}

void Calibration::gave_up(const Eta& expected, Time at) {
  if (expected.p90 != Time{} && at > expected.p90) add(false, false);
}

void Calibration::add(bool kept_p50, bool kept_p90) {
  const auto kept =
      static_cast<std::uint8_t>((kept_p50 ? p50_kept : 0) | (kept_p90 ? p90_kept : 0));
  if (newest_.size() < most) {
    newest_.push_back(kept);
  } else {
    count(last_, newest_[oldest_], -1);
    newest_[oldest_] = kept;
    oldest_ = (oldest_ + 1) % most;
  }
  count(last_, kept, +1);
  count(total_, kept, +1);
}

}  // namespace muster::verdict
