// The OpenAPI document that a host serves, held against what the host really answers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <muster/json.hpp>

#include "tests/integration/musterd_process.hpp"

namespace muster::testing {

struct HttpAnswer {
  int status = 0;
  std::string content_type, body;
};
// One request on a connection of its own. Without a token nobody asks.
HttpAnswer ask(std::uint16_t port, const std::string& method, const std::string& path,
               const std::string& token = "", const std::string& body = "");

struct Operation {
  std::string id, method, path;  // "GET", "/pools/{workerPoolId}"
  std::vector<std::string> scopes;
  json::object responses;
};

class ApiDescription {
 public:
  // As the host serves it; throws if that is no OpenAPI 3.1.
  explicit ApiDescription(std::uint16_t port);

  const std::vector<Operation>& operations() const { return operations_; }
  const Operation& find(const std::string& id) const;

  // What is wrong with an answer, one line for each; empty: it is as described. Members that the
  // document does not have are wrong, too.
  std::string complaints(const Operation& operation, const HttpAnswer& answer) const;
  // Whether it would notice: answers made of this one that lack something that must be there, have
  // something too much, or something of another kind. Returns those that it did not notice.
  std::string unnoticed_mistakes(const Operation& operation, const HttpAnswer& answer) const;

 private:
  json::object document_;  // strict, references as JSON Schema has them
  std::vector<Operation> operations_;
};

}  // namespace muster::testing
