// What the compiler refuses in a table of endpoints, and what a row says of itself.
#include <type_traits>

#include <gtest/gtest.h>

#include "host/endpoints/endpoint.hpp"

namespace muster::endpoints {
namespace {

Answer nothing(const Call&) {
  return std::string();
}

template <class Row>
concept compiles_without_scopes = requires {
  Row{.name = "x", .method = "GET", .path = "/x", .handler = nothing};
};
template <class Row>
concept compiles_without_a_handler = requires {
  Row{.name = "x", .method = "GET", .path = "/x", .scopes = open_to_all("a test")};
};
template <class Row>
concept compiles_with_both = requires {
  Row{.name = "x",
      .method = "GET",
      .path = "/x",
      .scopes = open_to_all("a test"),
      .handler = nothing};
};

static_assert(compiles_with_both<Endpoint>);
static_assert(!compiles_without_scopes<Endpoint>);
static_assert(!compiles_without_a_handler<Endpoint>);
static_assert(!std::is_default_constructible_v<Scopes>);
static_assert(!std::is_default_constructible_v<Handler>);

Endpoint row_of(std::string path, Scopes scopes) {
  return {.name = "x",
          .method = "GET",
          .path = std::move(path),
          .scopes = std::move(scopes),
          .handler = nothing};
}

TEST(Rows, name_the_parameters_of_their_paths) {
  const Endpoint row = row_of("/pools/{*pool}/workers/{worker}", open_to_all("a test"));
  EXPECT_EQ(parameters_of(row), (std::vector<std::string>{"pool", "worker"}));
}

TEST(Rows, authorize_by_the_request_if_a_scope_names_what_the_path_does_not_have) {
  EXPECT_FALSE(row_of("/pools/{pool}", all_of({"get:<pool>"})).authorizes_by_request());
  EXPECT_TRUE(row_of("/pools/{pool}", all_of({"get:<pool>", "use:<who>"})).authorizes_by_request());
  EXPECT_FALSE(row_of("/pools", open_to_all("a test")).authorizes_by_request());
}

}  // namespace
}  // namespace muster::endpoints
