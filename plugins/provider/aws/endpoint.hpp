// Where AWS's services are.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <muster/error.hpp>

namespace muster::aws {

// Small letters, digits and hyphens, as in all of AWS's regions: it becomes a part of host names.
bool is_region_name(std::string_view text);

// "amazonaws.com", "amazonaws.com.cn": by the longest prefix in partitions.json; a region that fits
// none is taken for one of the commercial partition, as AWS's own SDKs do.
std::string dns_suffix(std::string_view region);

// What an operator says about endpoints. Pure. THREADS: any; it does not change.
class Endpoints {
 public:
  // By service ("ec2") or by service and region ("ec2/us-east-1"). `{region}` in a URL is replaced.
  explicit Endpoints(std::map<std::string, std::string> overrides = {})
      : overrides_(std::move(overrides)) {}

  // Ends with a slash. `invalid` for a region that is none.
  Result<std::string> url(const std::string& endpoint_prefix, const std::string& region) const;

 private:
  std::map<std::string, std::string> overrides_;
};

// What is wrong with such an override; empty if nothing is.
std::string mistake_in_endpoint(const std::string& key, const std::string& url, bool plain_http);

}  // namespace muster::aws
