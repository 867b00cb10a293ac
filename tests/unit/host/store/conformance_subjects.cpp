#include "tests/unit/host/store/conformance.hpp"

namespace muster::store::testing {

using muster::testing::TemporaryFolder;

std::vector<Subject> subjects() {
  return {{"memory",
           [](const TemporaryFolder&) -> std::unique_ptr<Store> {
             return std::make_unique<MemoryStore>();
           }},
          {"sqlite", [](const TemporaryFolder& folder) -> std::unique_ptr<Store> {
             return open_store(folder / "a.db");
           }}};
}

}  // namespace muster::store::testing
