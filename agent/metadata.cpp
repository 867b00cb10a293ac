#include "agent/metadata.hpp"

#include <memory>

#include "agent/host_responses.hpp"

namespace muster::agent {
namespace {

constexpr Milliseconds metadata_timeout = std::chrono::seconds(10);
constexpr const char* azure_version = "?api-version=2021-02-01";

using Headers = std::vector<std::pair<std::string, std::string>>;
using Texts = std::function<void(Result<std::vector<std::string>>)>;

std::string member_text(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(key);
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

std::string without_end(std::string text) {
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

// Something that a metadata service has. What is optional is an empty text if it is not there.
struct Page {
  std::string path;
  bool is_optional = false;
};

// One after the other; all of them or none.
void fetch_all(HttpClient& http, const std::string& base, const std::vector<Page>& pages,
               const Headers& headers, std::vector<std::string> so_far, const Texts& done) {
  if (so_far.size() == pages.size()) return done(std::move(so_far));
  const Page& page = pages[so_far.size()];
  http.send({.url = base + page.path, .headers = headers, .timeout = metadata_timeout},
            [=, &http](Result<HttpAnswer> answer) mutable {
              if (!answer) return done(answer.error());
              const bool is_absent = answer->status == 404 && page.is_optional;
              if (answer->status != 200 && !is_absent)
                return done(Error::transient("the metadata service answers " +
                                             std::to_string(answer->status) + " for " +
                                             page.path.substr(0, page.path.find('?'))));
              so_far.push_back(is_absent ? "" : std::move(answer->body));
              fetch_all(http, base, pages, headers, std::move(so_far), done);
            });
}

// What the provider wrote for its worker: AWS user data, Google's attribute.
Result<Place> place_in(const std::string& text, const char* where) {
  const auto document = json::parse_object(text);
  if (!document) return Error::transient(std::string(where) + " is not JSON with a worker's names");
  std::string root = member_text(*document, "rootUrl");
  if (root.empty()) root = member_text(*document, "rootURL");
  root.erase(root.find_last_not_of('/') + 1);
  return Place{root, member_text(*document, "workerPoolId"), member_text(*document, "providerId"),
               member_text(*document, "workerGroup"), member_text(*document, "workerId")};
}

// What the configuration says counts more than what the cloud says; together they must say all.
Result<void> check_place(const Place& told, const Place& known) {
  const auto missing = [](const std::string& a, const std::string& b) {
    return a.empty() && b.empty();
  };
  const char* what = nullptr;
  if (missing(told.root_url, known.root_url)) what = "rootUrl";
  if (missing(told.worker_pool_id, known.worker_pool_id)) what = "workerPoolId";
  if (missing(told.provider_id, known.provider_id)) what = "providerId";
  if (missing(told.worker_group, known.worker_group)) what = "workerGroup";
  if (missing(told.worker_id, known.worker_id)) what = "workerId";
  if (what)
    return Error::transient(std::string("neither the cloud nor the configuration says the ") +
                            what);
  return {};
}

using CloudDone = std::function<void(Result<CloudIdentity>)>;

void finish(CloudIdentity identity, const Place& known, const CloudDone& done) {
  if (const auto checked = check_place(identity.place, known); !checked)
    return done(checked.error());
  done(std::move(identity));
}

// `texts`: document, its two signatures, user data. User data may be anything on a machine whose
// configuration has all names.
Result<CloudIdentity> read_aws(const std::vector<std::string>& texts, const Place& known) {
  const auto document = json::parse_object(texts[0]);
  if (!document) return Error::transient("the instance document is not JSON");
  if (texts[1].empty() && texts[2].empty())
    return Error::transient("the metadata service has no signature of the instance document");
  const bool is_told = !known.root_url.empty() && !known.worker_pool_id.empty() &&
                       !known.provider_id.empty() && !known.worker_group.empty();
  auto place = is_told ? Place{} : place_in(texts[3], "user data");
  if (!place) return place.error();
  place->worker_id = member_text(*document, "instanceId");
  CloudIdentity identity{std::move(*place), {}};
  identity.proof["document"] = texts[0];  // the signatures are about the very bytes
  if (!texts[1].empty()) identity.proof["rsa2048"] = texts[1];
  if (!texts[2].empty()) identity.proof["signature"] = texts[2];
  return identity;
}

void ask_aws(HttpClient& http, const std::string& base, const Place& known, const CloudDone& done) {
  http.send({.method = "PUT",
             .url = base + "/latest/api/token",
             .headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "60"}},
             .timeout = metadata_timeout},
            [=, &http](Result<HttpAnswer> token) {
              if (!token) return done(token.error());
              if (token->status != 200)
                return done(Error::transient("the metadata service gives no token: HTTP " +
                                             std::to_string(token->status)));
              const Headers headers{{"X-aws-ec2-metadata-token", without_end(token->body)}};
              const std::string identity = "/latest/dynamic/instance-identity";
              fetch_all(http, base,
                        {{identity + "/document"},
                         {identity + "/rsa2048", true},
                         {identity + "/signature", true},
                         {"/latest/user-data", true}},
                        headers, {}, [=](Result<std::vector<std::string>> texts) {
                          if (!texts) return done(texts.error());
                          auto found = read_aws(*texts, known);
                          if (!found) return done(found.error());
                          finish(std::move(*found), known, done);
                        });
            });
}

void ask_google(HttpClient& http, const std::string& base, const Place& known,
                const CloudDone& done) {
  const Headers headers{{"Metadata-Flavor", "Google"}};
  const std::string instance = base + "/computeMetadata/v1/instance";
  fetch_all(http, instance, {{"/attributes/taskcluster"}, {"/id"}}, headers, {},
            [=, &http](Result<std::vector<std::string>> texts) {
              if (!texts) return done(texts.error());
              auto place = place_in((*texts)[0], "the attribute taskcluster");
              if (!place) return done(place.error());
              place->worker_id = without_end((*texts)[1]);
              const std::string audience =
                  known.root_url.empty() ? place->root_url : known.root_url;
              const std::string path =
                  "/service-accounts/default/identity?audience=" + encode_segment(audience) +
                  "&format=full";
              fetch_all(http, instance, {{path}}, headers, {},
                        [=, place = std::move(*place)](Result<std::vector<std::string>> token) {
                          if (!token) return done(token.error());
                          CloudIdentity identity{place, {}};
                          identity.proof["token"] = without_end((*token)[0]);
                          finish(std::move(identity), known, done);
                        });
            });
}

Result<std::string> read_attested(const std::string& attested) {
  const auto document = json::parse_object(attested);
  if (!document) return Error::transient("the metadata service does not answer JSON");
  if (member_text(*document, "encoding") != "pkcs7" || member_text(*document, "signature").empty())
    return Error::transient("the attested document is not in the form pkcs7");
  return member_text(*document, "signature");
}

Result<CloudIdentity> read_azure(const std::string& compute_text, const std::string& attested) {
  const auto compute = json::parse_object(compute_text);
  if (!compute) return Error::transient("the metadata service does not answer JSON");
  const auto document = read_attested(attested);
  if (!document) return document.error();
  CloudIdentity identity;
  identity.place.worker_id = member_text(*compute, "name");
  const json::value* tags = compute->if_contains("tagsList");
  if (tags && tags->is_array())
    for (const json::value& tag : tags->get_array()) {
      if (!tag.is_object()) continue;
      const std::string name = member_text(tag.get_object(), "name");
      const std::string value = member_text(tag.get_object(), "value");
      if (name == "root-url")
        identity.place.root_url = value.substr(0, value.find_last_not_of('/') + 1);
      if (name == "worker-pool-id") identity.place.worker_pool_id = value;
      if (name == "provider-id") identity.place.provider_id = value;
      if (name == "worker-group") identity.place.worker_group = value;
    }
  identity.proof["document"] = *document;
  return identity;
}

void ask_azure(HttpClient& http, const std::string& base, const Place& known,
               const CloudDone& done) {
  fetch_all(http, base + "/metadata",
            {{std::string("/instance/compute") + azure_version},
             {std::string("/attested/document") + azure_version}},
            {{"Metadata", "true"}}, {}, [=](Result<std::vector<std::string>> texts) {
              if (!texts) return done(texts.error());
              auto identity = read_azure((*texts)[0], (*texts)[1]);
              if (!identity) return done(identity.error());
              finish(std::move(*identity), known, done);
            });
}

}  // namespace

void ask_attested_document(HttpClient& http, const std::string& metadata_url,
                           const std::string& nonce,
                           const std::function<void(Result<std::string>)>& done) {
  const std::string base =
      metadata_url.empty() ? default_metadata_url(IdentityKind::azure) : metadata_url;
  fetch_all(http, base + "/metadata",
            {{std::string("/attested/document") + azure_version + "&nonce=" + nonce}},
            {{"Metadata", "true"}}, {}, [=](Result<std::vector<std::string>> texts) {
              if (!texts) return done(texts.error());
              done(read_attested(texts->front()));
            });
}

std::string default_metadata_url(IdentityKind kind) {
  return kind == IdentityKind::google ? "http://metadata.google.internal"
                                      : "http://169.254.169.254";
}

void ask_cloud(IdentityKind kind, HttpClient& http, const std::string& metadata_url,
               const Place& known, const std::function<void(Result<CloudIdentity>)>& done) {
  const std::string base = metadata_url.empty() ? default_metadata_url(kind) : metadata_url;
  switch (kind) {
    case IdentityKind::aws:
      return ask_aws(http, base, known, done);
    case IdentityKind::google:
      return ask_google(http, base, known, done);
    case IdentityKind::azure:
      return ask_azure(http, base, known, done);
    default:
      done(Error::internal("this identity has no metadata service"));
  }
}

}  // namespace muster::agent
