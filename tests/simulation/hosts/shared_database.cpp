#include "tests/simulation/hosts/shared_database.hpp"

#include <stdexcept>

namespace muster::simulation {

leadership::Lead SharedDatabase::look(milliseconds now) const {
  return {
      .epoch = epoch_, .holder = holder_, .address = {}, .left = expires_ - now, .number = number_};
}

std::optional<std::int64_t> SharedDatabase::acquire(const std::string& holder, milliseconds length,
                                                    milliseconds now) {
  if (expires_ > now) return std::nullopt;
  ++grants_;
  holder_ = holder;
  expires_ = now + length;
  return ++epoch_;
}

bool SharedDatabase::renew(std::int64_t epoch, milliseconds length, milliseconds now) {
  if (epoch != epoch_) return false;
  expires_ = now + length;
  return true;
}

void SharedDatabase::release(std::int64_t epoch) {
  if (epoch == epoch_) expires_ = milliseconds(-1);
}

Commit SharedDatabase::commit(std::int64_t epoch, std::int64_t before, const std::string& token,
                              const store::Batch& batch) {
  if (checks_epochs_ && (epoch != epoch_ || before != number_)) return Commit::refused;
  if (const auto done = rows_.commit(batch); !done) throw std::logic_error(done.error().message);
  ++number_;
  token_ = token;
  return Commit::done;
}

}  // namespace muster::simulation
