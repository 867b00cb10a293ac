#include "plugins/http_service/client.hpp"

#include <algorithm>
#include <cstdlib>
#include <curl/curl.h>
#include <fstream>

namespace muster::http_service {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr auto between_looks = 20ms;  // at the context, while nothing comes from the network
constexpr std::size_t most_header_bytes = 64 << 10;
constexpr std::size_t most_token_bytes = 8 << 10;
constexpr auto longest_retry_after = std::chrono::seconds(1h);

struct Received {
  std::string body;
  std::size_t header_bytes = 0;
  std::size_t most_body_bytes = 0;
  bool too_large = false;
};

std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* to) {
  auto& received = *static_cast<Received*>(to);
  const std::size_t length = size * count;
  received.too_large = received.body.size() + length > received.most_body_bytes;
  if (received.too_large) return 0;
  received.body.append(bytes, length);
  return length;
}

std::size_t take_header(char*, std::size_t size, std::size_t count, void* to) {
  auto& received = *static_cast<Received*>(to);
  received.header_bytes += size * count;
  received.too_large = received.header_bytes > most_header_bytes;
  return received.too_large ? 0 : size * count;
}

// A token of printable characters: nothing else may get into a header.
Result<std::string> checked_token(std::string token, const std::string& source) {
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r' || token.back() == ' '))
    token.pop_back();
  if (token.empty()) return Error::auth("cannot be asked: " + source + " is empty");
  if (std::any_of(token.begin(), token.end(), [](char c) { return c <= ' ' || c >= '\x7f'; }))
    return Error::auth("cannot be asked: " + source + " holds characters that no token has");
  return token;
}

// Empty if none is configured.
Result<std::string> read_token(const Endpoint& endpoint) {
  if (!endpoint.token_environment.empty()) {
    const char* value = std::getenv(endpoint.token_environment.c_str());
    if (!value)
      return Error::auth("cannot be asked: the environment variable " + endpoint.token_environment +
                         " of the token is not set here; a plugin's process gets only those that "
                         "`environment` names");
    return checked_token(value, "the environment variable " + endpoint.token_environment);
  }
  if (endpoint.token_file.empty()) return std::string();
  std::ifstream file(endpoint.token_file, std::ios::binary);
  std::string token(most_token_bytes, '\0');
  file.read(token.data(), static_cast<std::streamsize>(token.size()));
  token.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  if (token.empty() && !file.eof())
    return Error::auth("cannot be asked: the token file " + endpoint.token_file +
                       " cannot be read");
  return checked_token(std::move(token), "the token file " + endpoint.token_file);
}

Error failure(CURLcode code, const Received& received, const Endpoint& endpoint,
              const char* details) {
  if (received.too_large || code == CURLE_FILESIZE_EXCEEDED)
    return Error::internal("sent an answer of more than " +
                           std::to_string(endpoint.max_answer_bytes) + " bytes");
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return Error::transient("cannot be reached: its name is not known");
    case CURLE_COULDNT_CONNECT:
      return Error::transient("cannot be reached: it takes no connections");
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
      return Error::transient("closed the connection in the middle of its answer");
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
      return Error::transient("closed the connection without an answer");
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
      return Error::internal("sent something that is not HTTP");
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return Error::auth(std::string("has a certificate that is not trusted: ") +
                         (*details ? details : curl_easy_strerror(code)));
    default:  // the details may hold times, which are never the same twice
      return Error::transient(std::string("cannot be asked: ") + curl_easy_strerror(code));
  }
}

}  // namespace

milliseconds time_for(const Endpoint& endpoint, milliseconds time_left) {
  const auto margin = std::clamp<milliseconds>(time_left / 10, 20ms, 500ms);
  const milliseconds configured(static_cast<std::int64_t>(endpoint.timeout_seconds * 1000));
  return std::min(configured, time_left - margin);
}

std::string seconds_in_words(double seconds) {
  return json::write(json::value(seconds)) + " s";
}

struct Client::Impl {
  explicit Impl(Endpoint where) : endpoint(std::move(where)) {
    // Counted and thread-safe in the library that we require. Never undone: another plugin of the
    // process may be in the middle of a call.
    curl_global_init(CURL_GLOBAL_DEFAULT);
    easy = curl_easy_init();
    multi = curl_multi_init();
  }
  ~Impl() {
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
  }

  void prepare(const std::string& url, const std::string& document, const curl_slist* headers);
  Result<CURLcode> transfer(steady_clock::time_point until, bool ours, const Context& context);

  Endpoint endpoint;
  CURL* easy = nullptr;
  CURLM* multi = nullptr;  // keeps the connections
  Received received;
  char details[CURL_ERROR_SIZE] = "";
};

void Client::Impl::prepare(const std::string& url, const std::string& document,
                           const curl_slist* headers) {
  received = {};
  received.most_body_bytes = static_cast<std::size_t>(endpoint.max_answer_bytes);
  details[0] = '\0';
  curl_easy_reset(easy);
  const auto set = [&](CURLoption option, auto value) { curl_easy_setopt(easy, option, value); };
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_PROXY, endpoint.proxy.c_str());  // empty: the environment's is not used
  set(CURLOPT_NOPROXY, "");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);  // a name server that does not answer holds up no cancelled call
  set(CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (!endpoint.ca_file.empty()) {
    set(CURLOPT_CAINFO, endpoint.ca_file.c_str());
    set(CURLOPT_CAPATH, static_cast<char*>(nullptr));
  }
  set(CURLOPT_HTTPHEADER, headers);
  set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(document.size()));
  set(CURLOPT_POSTFIELDS, document.c_str());
  set(CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(endpoint.max_answer_bytes));
  set(CURLOPT_WRITEFUNCTION, take_body);
  set(CURLOPT_WRITEDATA, &received);
  set(CURLOPT_HEADERFUNCTION, take_header);
  set(CURLOPT_HEADERDATA, &received);
  set(CURLOPT_ERRORBUFFER, details);
}

// By polling, because the context can only be asked.
Result<CURLcode> Client::Impl::transfer(steady_clock::time_point until, bool ours,
                                        const Context& context) {
  for (;;) {
    int running = 0;
    if (const CURLMcode code = curl_multi_perform(multi, &running); code != CURLM_OK)
      return Error::internal(std::string("cannot be asked: ") + curl_multi_strerror(code));
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left))
      if (message->msg == CURLMSG_DONE) return message->data.result;
    if (context.cancelled()) return Error::cancelled("was being asked when the call was cancelled");
    if (steady_clock::now() >= until)
      return Error::transient(ours ? "did not answer within " +
                                         seconds_in_words(endpoint.timeout_seconds)
                                   : "did not answer within the time that the host has for it");
    curl_multi_poll(multi, nullptr, 0, static_cast<int>(between_looks.count()), nullptr);
  }
}

Client::Client(Endpoint endpoint) : impl_(std::make_unique<Impl>(std::move(endpoint))) {}
Client::~Client() = default;

const Endpoint& Client::endpoint() const {
  return impl_->endpoint;
}

Result<Answer> Client::post(const std::string& method, const std::string& document,
                            const Context& context) {
  if (context.cancelled()) return Error::cancelled("was not asked: the call was cancelled");
  const Endpoint& endpoint = impl_->endpoint;
  const milliseconds time = time_for(endpoint, context.time_left());
  if (time <= 0ms) return Error::transient("was not asked: the host has no time left for it");
  const auto token = read_token(endpoint);
  if (!token) return token.error();
  curl_slist* list = curl_slist_append(nullptr, "Content-Type: application/json");
  list = curl_slist_append(list, "Accept: application/json");
  list = curl_slist_append(list, "Expect:");  // no waiting for a go-ahead
  list = curl_slist_append(list, ("Muster-Deadline-Ms: " + std::to_string(time.count())).c_str());
  if (!token->empty()) list = curl_slist_append(list, ("Authorization: Bearer " + *token).c_str());
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(list,
                                                                            curl_slist_free_all);
  const std::string url = endpoint.url + "/" + method;
  impl_->prepare(url, document, headers.get());
  curl_multi_add_handle(impl_->multi, impl_->easy);
  const bool ours =
      time >= milliseconds(static_cast<std::int64_t>(endpoint.timeout_seconds * 1000));
  const auto ended = impl_->transfer(steady_clock::now() + time, ours, context);
  Answer answer;
  curl_off_t retry_after = 0;
  curl_easy_getinfo(impl_->easy, CURLINFO_RESPONSE_CODE, &answer.status);
  curl_easy_getinfo(impl_->easy, CURLINFO_RETRY_AFTER, &retry_after);
  curl_multi_remove_handle(impl_->multi, impl_->easy);  // closes a connection in mid-answer
  if (!ended) return ended.error();
  if (*ended != CURLE_OK) return failure(*ended, impl_->received, endpoint, impl_->details);
  answer.body = std::move(impl_->received.body);
  if (retry_after > 0)
    answer.retry_after = std::min(std::chrono::seconds(retry_after), longest_retry_after);
  return answer;
}

}  // namespace muster::http_service
