#include "cli/host_client.hpp"

#include <chrono>
#include <curl/curl.h>
#include <exception>
#include <strings.h>
#include <vector>

#include "lib/base/secret.hpp"
#include "lib/hawk/hawk.hpp"

namespace muster::cli {
namespace {

constexpr long connect_seconds = 5, silent_seconds = 60;
constexpr std::size_t max_answer = 256 * 1024 * 1024;

using Easy = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using Multi = std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)>;
using List = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

struct Call {
  const char* method = "GET";
  std::string path = {};
  std::string body = {};
  std::vector<std::string> headers = {};
};

// What came back, or comes.
struct Answer {
  long status = 0;
  std::string challenge = {};  // of WWW-Authenticate
  std::string body = {};
  const std::function<void(std::string_view)>* take = nullptr;  // gets a good body instead
  CURL* curl = nullptr;
  std::exception_ptr thrown = {};  // by `take`: nothing may fly through a library in C
};

std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* into) {
  static constexpr std::string_view name = "www-authenticate:";
  const std::string_view line(bytes, size * count);
  if (line.size() > name.size() && ::strncasecmp(line.data(), name.data(), name.size()) == 0) {
    std::string_view value = line.substr(name.size());
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    while (!value.empty() && (value.back() == '\r' || value.back() == '\n')) value.remove_suffix(1);
    static_cast<Answer*>(into)->challenge = value;
  }
  return size * count;
}

std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* into) {
  auto& answer = *static_cast<Answer*>(into);
  const std::string_view part(bytes, size * count);
  curl_easy_getinfo(answer.curl, CURLINFO_RESPONSE_CODE, &answer.status);
  if (answer.take && answer.status == 200) {
    try {
      (*answer.take)(part);
    } catch (...) {
      answer.thrown = std::current_exception();
      return 0;
    }
    return part.size();
  }
  if (answer.body.size() + part.size() > max_answer) return 0;
  answer.body.append(part);
  return part.size();
}

ErrorClass class_of(long status) {
  if (status == 404) return ErrorClass::not_found;
  if (status == 401 || status == 403) return ErrorClass::auth;
  if (status == 429) return ErrorClass::throttle;
  if (status >= 400 && status < 500) return ErrorClass::invalid;
  return status == 503 ? ErrorClass::transient : ErrorClass::internal;
}

std::string member(const Result<json::value>& document, std::string_view key) {
  const auto* object = document ? document->if_object() : nullptr;
  const auto* found = object ? object->if_contains(key) : nullptr;
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

std::string where(const HostAddress& address) {
  return address.url + (address.origin.empty() ? "" : " (from " + address.origin + ")");
}

// What to do about a refusal, where the host itself cannot know.
std::string advice(const HostAddress& address, long status, bool is_musterd) {
  if (!is_musterd)
    return ": nothing at " + where(address) + " speaks muster's API; is that address a musterd?";
  if (status == 403) return "\n`muster whoami` shows which scopes you have";
  if (status != 401) return "";
  const std::string who =
      address.client_id.empty() ? "the token" : "the access token of " + address.client_id;
  return "; " + who + " does not open " + where(address) +
         ": `muster login` takes another one, and a host on this machine has the admin's in its "
         "data "
         "directory";
}

Error refusal(const HostAddress& address, const Answer& answer) {
  const auto document = json::parse(answer.body);
  const std::string message = member(document, "message"), code = member(document, "code");
  Error error{class_of(answer.status),
              (message.empty() ? "HTTP status " + std::to_string(answer.status) : message) +
                  advice(address, answer.status, !code.empty())};
  error.code = code;
  return error;
}

Error unreachable(const HostAddress& address, CURLcode code, const char* reason) {
  const std::string said = *reason ? reason : curl_easy_strerror(code);
  switch (code) {
    case CURLE_SSL_CACERT_BADFILE:
      return Error::config("the CA's file " + address.ca_file + " cannot be used: " + said);
    case CURLE_PEER_FAILED_VERIFICATION:
      return Error::auth("the certificate of " + where(address) + " is not trusted: " + said +
                         "; if the host has a CA of its own, name the CA's file with --ca-file or "
                         "MUSTER_CA_FILE");
    case CURLE_SSL_CONNECT_ERROR:
      return Error::transient("there is no TLS at " + where(address) + ": " + said +
                              "; is it http:// and not https://?");
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return Error::invalid(where(address) + " is not an address of a host: " + said +
                            "; it looks like https://muster.example.com:8600");
    case CURLE_OPERATION_TIMEDOUT:
      return Error::transient("the host at " + where(address) + " does not answer: " + said);
    default:
      return Error::transient("the host at " + where(address) + " cannot be reached: " + said +
                              "; is musterd running there?");
  }
}

}  // namespace

struct HostClient::Impl {
  HostAddress address;
  std::chrono::seconds deadline{};
  Easy curl{curl_easy_init(), curl_easy_cleanup};
  std::int64_t skew = 0;  // seconds that the host's clock is before ours
  char reason[CURL_ERROR_SIZE] = "";
  List headers{nullptr, curl_slist_free_all};

  std::string authorization(const Call& call) const;
  void prepare(const Call& call, Answer& answer);
  bool learn_time(const Answer& answer);
  Result<Answer> perform(const Call& call);
  Result<json::value> send(const Call& call);
};

std::string HostClient::Impl::authorization(const Call& call) const {
  if (address.client_id.empty()) return "Authorization: Bearer " + address.token;
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), curl_url_cleanup);
  curl_url_set(url.get(), CURLUPART_URL, (address.url + call.path).c_str(), 0);
  const auto part = [&](CURLUPart which, unsigned flags = 0) {
    char* text = nullptr;
    if (curl_url_get(url.get(), which, &text, flags) != CURLUE_OK) return std::string();
    const std::unique_ptr<char, decltype(&curl_free)> owned(text, curl_free);
    return std::string(text);
  };
  hawk::Request request{call.method, part(CURLUPART_PATH), part(CURLUPART_HOST)};
  if (const std::string query = part(CURLUPART_QUERY); !query.empty())
    request.resource += "?" + query;
  const std::string port = part(CURLUPART_PORT, CURLU_DEFAULT_PORT);
  request.port = static_cast<std::uint16_t>(std::strtoul(port.c_str(), nullptr, 10));
  const std::int64_t now = std::chrono::duration_cast<std::chrono::seconds>(
                               std::chrono::system_clock::now().time_since_epoch())
                               .count();
  return "Authorization: " +
         hawk::authorization({address.client_id, Secret(address.access_token), address.certificate},
                             request, now + skew, random_token().reveal().substr(0, 12));
}

void HostClient::Impl::prepare(const Call& call, Answer& answer) {
  CURL* const at = curl.get();
  curl_easy_reset(at);
  *reason = 0;
  curl_slist* list = curl_slist_append(nullptr, authorization(call).c_str());
  if (!call.body.empty()) list = curl_slist_append(list, "Content-Type: application/json");
  for (const std::string& header : call.headers) list = curl_slist_append(list, header.c_str());
  headers.reset(list);
  curl_easy_setopt(at, CURLOPT_URL, (address.url + call.path).c_str());
  curl_easy_setopt(at, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(at, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(at, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(at, CURLOPT_CONNECTTIMEOUT, connect_seconds);
  curl_easy_setopt(at, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(at, CURLOPT_ERRORBUFFER, reason);
  if (!address.ca_file.empty()) curl_easy_setopt(at, CURLOPT_CAINFO, address.ca_file.c_str());
  curl_easy_setopt(at, CURLOPT_CUSTOMREQUEST, call.method);
  if (!call.body.empty()) {
    curl_easy_setopt(at, CURLOPT_POSTFIELDSIZE, static_cast<long>(call.body.size()));
    curl_easy_setopt(at, CURLOPT_POSTFIELDS, call.body.c_str());
  }
  answer.curl = at;
  curl_easy_setopt(at, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(at, CURLOPT_HEADERDATA, &answer);
  curl_easy_setopt(at, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(at, CURLOPT_WRITEDATA, &answer);
}

// Whether the host refused our clock and told its own, signed with our key.
bool HostClient::Impl::learn_time(const Answer& answer) {
  if (answer.status != 401 || address.client_id.empty() || skew != 0) return false;
  const auto theirs = hawk::server_time(answer.challenge, Secret(address.access_token));
  if (!theirs) return false;
  skew = *theirs - std::chrono::duration_cast<std::chrono::seconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  return skew != 0;
}

Result<Answer> HostClient::Impl::perform(const Call& call) {
  Answer answer;
  prepare(call, answer);
  curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT, static_cast<long>(deadline.count()));
  if (const CURLcode code = curl_easy_perform(curl.get()); code != CURLE_OK)
    return unreachable(address, code, reason);
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &answer.status);
  if (learn_time(answer)) return perform(call);
  return answer;
}

Result<json::value> HostClient::Impl::send(const Call& call) {
  const auto answer = perform(call);
  if (!answer) return answer.error();
  if (answer->status < 200 || answer->status >= 300) return refusal(address, *answer);
  if (answer->body.empty()) return json::value(json::object{});
  auto document = json::parse(answer->body);
  if (document) return document;
  return Error::internal("the answer of " + where(address) + " is not JSON; is it a musterd?");
}

HostClient::HostClient(HostAddress address, std::chrono::seconds deadline)
    : impl_(std::make_unique<Impl>()) {
  impl_->deadline = deadline;
  while (address.url.ends_with('/')) address.url.pop_back();
  impl_->address = std::move(address);
}
HostClient::~HostClient() = default;
HostClient::HostClient(HostClient&&) noexcept = default;

const HostAddress& HostClient::address() const {
  return impl_->address;
}

Result<json::value> HostClient::get(const std::string& path) {
  return impl_->send({"GET", path});
}

Result<json::value> HostClient::post(const std::string& path, const json::object& body) {
  return impl_->send({"POST", path, json::write(body)});
}

Result<json::value> HostClient::put(const std::string& path, const json::object& body) {
  return impl_->send({"PUT", path, json::write(body)});
}

Result<json::value> HostClient::remove(const std::string& path) {
  return impl_->send({"DELETE", path});
}

Result<void> HostClient::stream(const std::string& path, const std::string& last_event_id, int stop,
                                const std::function<void(std::string_view)>& take) {
  Call call{"GET", path, "", {"Accept: text/event-stream"}};
  if (!last_event_id.empty()) call.headers.push_back("Last-Event-ID: " + last_event_id);
  Answer answer;
  answer.take = &take;
  impl_->prepare(call, answer);
  CURL* const curl = impl_->curl.get();
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, silent_seconds);
  const Multi multi(curl_multi_init(), curl_multi_cleanup);
  curl_multi_add_handle(multi.get(), curl);
  int running = 1;
  bool stopped = false;
  while (running > 0 && !stopped) {
    if (curl_multi_perform(multi.get(), &running) != CURLM_OK) break;
    curl_waitfd extra{stop, CURL_WAIT_POLLIN, 0};
    if (running > 0) curl_multi_poll(multi.get(), &extra, stop >= 0 ? 1 : 0, 1000, nullptr);
    stopped = extra.revents != 0;
  }
  CURLcode code = CURLE_OK;
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi.get(), &left))
    if (message->msg == CURLMSG_DONE) code = message->data.result;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
  curl_multi_remove_handle(multi.get(), curl);
  if (answer.thrown) std::rethrow_exception(answer.thrown);
  if (stopped || answer.status == 200) return {};
  if (answer.status == 0) return unreachable(impl_->address, code, impl_->reason);
  if (impl_->learn_time(answer)) return stream(path, last_event_id, stop, take);
  return refusal(impl_->address, answer);
}

std::string path_segment(std::string_view text) {
  static constexpr char hex[] = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '-' || c == '_' || c == '.' || c == '~') {
      escaped += c;
    } else {
      escaped += '%';
      escaped += hex[byte >> 4];
      escaped += hex[byte & 15];
    }
  }
  return escaped;
}

}  // namespace muster::cli
