// docs/external-services.md: every document in it is one that the plugins send or take.
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include <muster/bidding_strategy.hpp>
#include <muster/codec.hpp>

#include "plugins/provider/bridge/promises.hpp"
#include "plugins/provider/bridge/settings.hpp"
#include "plugins/strategy/external/promises.hpp"
#include "plugins/strategy/external/strategy.hpp"

namespace muster {
namespace {

std::string page() {
  std::ifstream in(MUSTER_SOURCE "/docs/external-services.md");
  return {std::istreambuf_iterator<char>(in), {}};
}

// The JSON below the heading of a method: the request, then the answer.
std::vector<std::string> documents_of(const std::string& method) {
  const std::string text = page();
  const std::string heading = "\n### `" + method + "`\n";
  const std::size_t begin = text.find(heading);
  if (begin == std::string::npos) return {};
  const std::string part = text.substr(begin, text.find("\n#", begin + heading.size()) - begin);
  std::vector<std::string> found;
  const std::string opening = "```json\n";
  for (std::size_t at = part.find(opening); at != std::string::npos;
       at = part.find(opening, at + 1)) {
    const std::size_t from = at + opening.size();
    found.push_back(part.substr(from, part.find("```", from) - from));
  }
  return found;
}

// Every member that is written must be one that the codec has: what it reads, it writes again.
template <class T>
T read_whole(const std::string& text, bool is_request) {
  json::object document = json::parse_object(text).value();
  EXPECT_EQ(document.erase("protocol"), is_request ? 1u : 0u) << text;
  T record = from_value<T>(document).value();
  EXPECT_EQ(json::canonical(codec::to_value(record)), json::canonical(document));
  return record;
}

template <class Request, class Reply>
void expect_documented(const char* method) {
  const auto documents = documents_of(method);
  ASSERT_EQ(documents.size(), 2u) << method;
  const auto request = read_whole<Request>(documents[0], true);
  const auto reply = read_whole<Reply>(documents[1], false);
  if constexpr (std::is_same_v<Reply, Size> || std::is_same_v<Reply, Selection>)
    EXPECT_EQ(external::broken_promise(request, reply), "") << method;
  else
    EXPECT_EQ(bridge::broken_promise(request, reply), "") << method;
}

TEST(ExternalServicesPage, has_every_method_with_documents_that_are_right) {
  expect_documented<PlacementsRequest, Placements>("placements");
  expect_documented<ExpandRequest, Expansion>("expand");
  expect_documented<BidRequest, Bids>("bid");
  expect_documented<AllocateRequest, Allocation>("allocate");
  expect_documented<ListRequest, Listing>("list");
  expect_documented<TerminateRequest, Termination>("terminate");
  expect_documented<IdentifyRequest, Identity>("identify");
  expect_documented<NoticesRequest, Notices>("notices");
  expect_documented<SizeRequest, Size>("size");
  expect_documented<SelectRequest, Selection>("select");
}

TEST(ExternalServicesPage, has_every_key_and_every_class) {
  const std::string text = page();
  for (const json::object& schema :
       {bridge::description().config_schema, external::config_schema()})
    for (const auto& [key, ignored] : schema.at("properties").as_object())
      EXPECT_NE(text.find("| `" + std::string(key) + "` |"), std::string::npos) << key;
  for (muster_status status = MUSTER_INVALID; status <= MUSTER_INTERNAL; ++status)
    EXPECT_NE(text.find("`" + std::string(to_string(ErrorClass(status))) + "`"), std::string::npos)
        << status;
}

}  // namespace
}  // namespace muster
