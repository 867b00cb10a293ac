#include "tests/unit/host/postgres/fixture.hpp"
#include "tests/unit/host/store/conformance.hpp"

namespace muster::store::testing {

std::vector<Subject> subjects() {
  return {{"postgres", [](const muster::testing::TemporaryFolder&) -> std::unique_ptr<Store> {
             auto& server = muster::testing::shared_postgres();
             return postgres::testing::open_store(server.url(server.new_database()));
           }}};
}

}  // namespace muster::store::testing
