// The schemas of requests and answers, under the addresses at which this host serves them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <muster/json_schema.hpp>

namespace muster::taskcluster_api {

// Made once; then only read. THREADS: any.
class Schemas {
 public:
  // `root_url` without a slash at its end: "https://muster.example.com".
  explicit Schemas(std::string root_url);

  const std::string& root_url() const { return root_url_; }

  // By path: "/schemas/worker-manager/v1/worker-full.json".
  const std::map<std::string, json::value>& documents() const { return documents_; }

  // Nothing if the document has the form; else the text that clients of Taskcluster know, which
  // names the schema and every mistake. `name` as in Endpoint: "create-worker-request".
  std::optional<std::string> refuse(std::string_view name, const json::value& document) const;

 private:
  std::string root_url_;
  std::map<std::string, json::value> documents_;
  std::map<std::string, json::Schema, std::less<>> compiled_;  // by name
};

}  // namespace muster::taskcluster_api
