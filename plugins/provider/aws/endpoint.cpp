#include "plugins/provider/aws/endpoint.hpp"

#include <algorithm>

#include "plugins/cloud/machines/reach.hpp"
#include "plugins/provider/aws/words.hpp"

namespace muster::aws {
namespace {

constexpr std::string_view placeholder = "{region}";

std::string with_region(std::string url, const std::string& region) {
  for (auto at = url.find(placeholder); at != url.npos; at = url.find(placeholder, at))
    url.replace(at, placeholder.size(), region);
  if (!url.ends_with('/')) url += '/';
  return url;
}

}  // namespace

bool is_region_name(std::string_view text) {
  return !text.empty() && text.size() <= 32 && text.front() != '-' && text.back() != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
         });
}

std::string dns_suffix(std::string_view region) {
  const json::value document = documents.read("partitions");
  const json::array& partitions = document.at("partitions").as_array();
  std::string suffix(partitions.front().at("dnsSuffix").as_string());
  std::size_t longest = 0;
  for (const json::value& partition : partitions)
    for (const json::value& prefix : partition.at("regionPrefixes").as_array())
      if (region.starts_with(std::string_view(prefix.as_string())) &&
          prefix.as_string().size() > longest) {
        longest = prefix.as_string().size();
        suffix = partition.at("dnsSuffix").as_string();
      }
  return suffix;
}

Result<std::string> Endpoints::url(const std::string& endpoint_prefix,
                                   const std::string& region) const {
  if (!is_region_name(region))
    return Error::invalid("\"" + region + "\" is no name of a region; they are like us-east-1");
  for (const std::string& key : {endpoint_prefix + "/" + region, endpoint_prefix})
    if (const auto found = overrides_.find(key); found != overrides_.end())
      return with_region(found->second, region);
  return "https://" + endpoint_prefix + "." + region + "." + dns_suffix(region) + "/";
}

std::string mistake_in_endpoint(const std::string& key, const std::string& text, bool plain_http) {
  const auto slash = key.find('/');
  const std::string service = key.substr(0, slash);
  if (service != "ec2" && service != "sts" && service != "sqs" && service != "servicequotas")
    return "\"" + service + "\" is none of the services ec2, sts, sqs and servicequotas";
  if (slash != key.npos && !is_region_name(std::string_view(key).substr(slash + 1)))
    return "\"" + key.substr(slash + 1) + "\" is no name of a region; they are like us-east-1";
  return mistake_in_url(with_region(text, "us-east-1"), plain_http);
}

}  // namespace muster::aws
