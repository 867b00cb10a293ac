#include "plugins/provider/google/endpoint.hpp"

#include "lib/url/url.hpp"
#include "plugins/cloud/machines/reach.hpp"

namespace muster::google {
namespace {

const std::map<std::string, std::string>& usual() {
  static const std::map<std::string, std::string> addresses = {
      {"compute", "https://compute.googleapis.com"},
      {"oauth2", "https://oauth2.googleapis.com"},
      {"certs", "https://www.googleapis.com"},
      {"iamcredentials", "https://iamcredentials.googleapis.com"},
      {"sts", "https://sts.googleapis.com"},
      {"cloudbilling", "https://cloudbilling.googleapis.com"},
      {"cloudresourcemanager", "https://cloudresourcemanager.googleapis.com"},
      {"metadata", "http://metadata.google.internal"}};
  return addresses;
}

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

}  // namespace

std::string Endpoints::url(const std::string& service) const {
  if (const auto found = overrides_.find(service); found != overrides_.end())
    return without_slash(found->second);
  return usual().at(service);
}

Result<std::string> Endpoints::named_in_file(const std::string& service, const std::string& path,
                                             const std::string& named) const {
  if (named.empty() || is_overridden(service)) return url(service) + path;
  const auto parsed = parse_http_url(named);
  if (!parsed) return Error::auth("the address of " + service + " in it " + parsed.error().message);
  const std::string host = parsed->address();
  if (!parsed->tls || !(host.ends_with(".googleapis.com") || host == "accounts.google.com"))
    return Error::auth("it names " + host +
                       ", which is no address of Google over https; if that is meant, set "
                       "endpoints." +
                       service + " of the provider");
  return named;
}

std::string mistake_in_endpoint(const std::string& service, const std::string& url,
                                bool plain_http) {
  if (!usual().contains(service)) {
    std::string known;
    for (const auto& [name, address] : usual()) known += (known.empty() ? "" : ", ") + name;
    return "\"" + service + "\" is none of the services " + known;
  }
  return cloud::mistake_in_url(url, plain_http);
}

}  // namespace muster::google
