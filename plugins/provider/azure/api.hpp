// Azure's APIs as the provider sees them: documents in Azure's own spelling in and out.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <muster/context.hpp>
#include <muster/error.hpp>
#include <muster/json.hpp>

namespace muster::azure {

// The versions of Microsoft's descriptions that requests are written by.
namespace version {
inline constexpr const char* compute = "2024-07-01";
inline constexpr const char* disks = "2024-03-02";
inline constexpr const char* network = "2024-01-01";
inline constexpr const char* resources = "2024-07-01";
inline constexpr const char* skus = "2021-07-01";
inline constexpr const char* permissions = "2022-04-01";
inline constexpr const char* prices = "2023-01-01-preview";
}  // namespace version

enum class Service { resource_manager, retail_prices };

struct Call {
  std::string method = "GET";
  // Path and query below the service's address ("/subscriptions/1/..."), or a whole URL that Azure
  // itself gave (the next page, an operation): one of another server is refused, for the access
  // token would go there.
  std::string target;
  std::optional<json::object> body = {};
  bool only_if_new = false;  // If-None-Match: * - what exists is not changed
  // What the call is about, for the scope of its errors.
  ErrorScope about = {};
  Service service = Service::resource_manager;
};

struct Answer {
  int status = 200;
  json::object body = {};  // empty if there is none
  // Where a long-running operation can be followed; empty: it is done.
  std::string operation = {};
  std::optional<std::chrono::seconds> retry_after = {};  // when to ask again
};

// The scope of what is about a location alone.
inline ErrorScope in_location(const std::string& location) {
  ErrorScope scope;
  scope.region = location;
  return scope;
}

// THREADS: any, in parallel.
class Api {
 public:
  virtual ~Api() = default;

  // Errors are classified by the table (errors.json). `code` is Azure's own ("SkuNotAvailable"),
  // and the message has Azure's words and the request id. Trouble without an answer of Azure has
  // the code "noAnswer", and an answer that is none of Azure's the code "badAnswer".
  virtual Result<Answer> call(const Call& call, const Context& context) = 0;

  // What is at a public address, without any token: a certificate of at most 64 KiB.
  virtual Result<std::string> fetch(const std::string& url, const Context& context) = 0;

  // How far Azure's clock is ahead of ours, as the answers so far say; nothing if that is not
  // known.
  virtual std::optional<std::chrono::milliseconds> clock_offset() { return std::nullopt; }
};

inline constexpr const char* no_answer_code = "noAnswer";
inline constexpr const char* bad_answer_code = "badAnswer";

// All pages of a list (`value`, `nextLink`; `Items`, `NextPageLink` of prices), each entry to
// `take`.
Result<void> for_each_listed(Api& api, Call call,
                             const std::function<void(const json::object&)>& take,
                             const Context& context);

}  // namespace muster::azure
