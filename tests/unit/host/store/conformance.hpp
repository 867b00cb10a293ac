// Which stores the conformance suite runs over; each test program that has it says its own.
#pragma once

#include <memory>
#include <vector>

#include "tests/unit/host/store/test_tables.hpp"

namespace muster::store::testing {

struct Subject {
  const char* name;
  // A store that is empty and has the test tables.
  std::unique_ptr<Store> (*make)(const muster::testing::TemporaryFolder&);
};

std::vector<Subject> subjects();

}  // namespace muster::store::testing
