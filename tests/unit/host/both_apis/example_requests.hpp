// A valid request for each row of both tables of endpoints, made from the row and its schema.
#pragma once

#include <string>
#include <vector>

#include "tests/unit/host/taskcluster_api/fixture.hpp"

namespace muster::testing {

struct ExampleRequest {
  const endpoints::Endpoint* row = nullptr;
  std::string path;                 // with its parameters, escaped
  std::string body;                 // empty: none
  std::vector<std::string> scopes;  // of the row, with the values of this request
};

// All rows of both APIs. A test fails if a row has a parameter without an example.
std::vector<ExampleRequest> example_requests(const taskcluster_api::Fixture& host);

}  // namespace muster::testing
