#include "lib/http_client/transfer.hpp"

#include <algorithm>
#include <strings.h>

namespace muster::http_client {
namespace {

constexpr std::size_t max_header_bytes = 64 << 10;  // of all headers of an answer together
constexpr std::int64_t longest_retry_after = 3600;

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

Failure::Kind kind_of(CURLcode code) {
  using Kind = Failure::Kind;
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return Kind::name_unknown;
    case CURLE_COULDNT_CONNECT:
      return Kind::no_connection;
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
      return Kind::no_answer;
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
      return Kind::cut_off;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
      return Kind::not_http;
    case CURLE_PEER_FAILED_VERIFICATION:
      return Kind::untrusted;
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
      return Kind::bad_tls_files;
    case CURLE_SSL_CONNECT_ERROR:
      return Kind::no_tls;
    case CURLE_OPERATION_TIMEDOUT:
      return Kind::timed_out;
    case CURLE_FILESIZE_EXCEEDED:
      return Kind::too_large;
    case CURLE_URL_MALFORMAT:
      return Kind::bad_request;
    default:
      return Kind::other;
  }
}

template <class... Values>
struct Overloaded : Values... {
  using Values::operator()...;
};
template <class... Values>
Overloaded(Values...) -> Overloaded<Values...>;

}  // namespace

Transfer::Transfer() : curl_(curl_easy_init()) {}

Transfer::~Transfer() {
  curl_slist_free_all(header_list_);
  curl_easy_cleanup(curl_);
}

// -------------------------------------------------------------------------------------------------
// What is sent

std::optional<Failure> Transfer::prepare(Request request, std::size_t number,
                                         const Settings& settings,
                                         const Cancellation& cancellation) {
  request_ = std::move(request);
  number_ = number;
  repaired_ = false;
  return prepare_again(settings, cancellation);
}

std::optional<Failure> Transfer::prepare_again(const Settings& settings,
                                               const Cancellation& cancellation) {
  curl_easy_reset(curl_);  // options only: connections belong to the multi handle
  response_ = {};
  header_bytes_ = 0;
  too_large_ = false;
  thrown_ = nullptr;
  detail_[0] = '\0';
  max_body_bytes_ = settings.max_body_bytes;
  const auto url = parse_http_url(request_.url);
  if (!url) return Failure{Failure::Kind::bad_request, "the URL " + url.error().message};
  if (auto failure = set_headers(*url, settings, cancellation.now())) return failure;
  // What was checked and signed is what is sent.
  curl_easy_setopt(curl_, CURLOPT_URL, url->text().c_str());
  set_body();
  set_connection(settings, cancellation.limit(request_.timeout.value_or(settings.timeout)));
  return std::nullopt;
}

std::string_view Transfer::request_header(std::string_view name) const {
  for (const Header& header : request_.headers)
    if (same_name(header.name, name)) return header.value;
  return {};
}

std::string Transfer::authorization(const Url& url, const Settings& settings, Time now) {
  return std::visit(
      Overloaded{[](std::monostate) { return std::string(); },
                 [](const BearerToken& bearer) { return "Bearer " + bearer.token.reveal(); },
                 [&](const HawkSignature& hawk) {
                   signed_offset_ = settings.server_clock->offset();
                   const std::string hash =
                       request_.body
                           ? hawk::payload_hash(request_header("Content-Type"), *request_.body)
                           : std::string();
                   return hawk::authorization_for(hawk.credentials, request_.method, url,
                                                  now + signed_offset_, hash);
                 }},
      request_.authorization);
}

bool Transfer::add_header(const Header& header) {
  // "Name;" is how libcurl is told to send an empty one.
  const std::string line =
      header.value.empty() ? header.name + ";" : header.name + ": " + header.value;
  curl_slist* const longer = curl_slist_append(header_list_, line.c_str());
  if (longer) header_list_ = longer;
  return longer != nullptr;
}

std::optional<Failure> Transfer::set_headers(const Url& url, const Settings& settings, Time now) {
  curl_slist_free_all(header_list_);
  header_list_ = nullptr;
  std::vector<Header> all = request_.headers;
  if (std::string value = authorization(url, settings, now); !value.empty())
    all.push_back({"Authorization", std::move(value)});
  for (const Header& header : all) {
    if (std::string wrong = mistake_in_header(header); !wrong.empty())
      return Failure{Failure::Kind::bad_request, std::move(wrong)};
    if (!add_header(header)) return Failure{Failure::Kind::other, "there is no memory for it"};
  }
  // Without these libcurl adds a type that is wrong, and waits for a go-ahead.
  for (const char* without : {"Content-Type", "Expect"})
    if (request_.body && request_header(without).empty())
      header_list_ = curl_slist_append(header_list_, (std::string(without) + ":").c_str());
  curl_easy_setopt(curl_, CURLOPT_HTTPHEADER, header_list_);
  return std::nullopt;
}

void Transfer::set_body() {
  if (request_.method == "HEAD") curl_easy_setopt(curl_, CURLOPT_NOBODY, 1L);
  if (request_.body) {
    curl_easy_setopt(curl_, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request_.body->size()));
    curl_easy_setopt(curl_, CURLOPT_POSTFIELDS, request_.body->c_str());
  }
  curl_easy_setopt(curl_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
}

void Transfer::set_connection(const Settings& settings, std::chrono::milliseconds timeout) {
  const auto set = [&](CURLoption option, auto value) { curl_easy_setopt(curl_, option, value); };
  const auto milliseconds = [](std::chrono::milliseconds time) {
    return std::max(1L, static_cast<long>(time.count()));
  };
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, long{CURL_HTTP_VERSION_1_1});
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_USERAGENT, "muster");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);  // a name server that does not answer holds up no cancelled call
  set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(settings.connect_timeout));
  set(CURLOPT_FRESH_CONNECT, request_.kept_connection ? 0L : 1L);
  if (request_.on_body) {
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, std::max(1L, static_cast<long>(request_.silence.count())));
  } else {
    set(CURLOPT_TIMEOUT_MS, milliseconds(timeout));
    if (!request_.discard_body)
      set(CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(settings.max_body_bytes));
  }
  if (settings.proxy) {
    set(CURLOPT_PROXY, settings.proxy->c_str());
    set(CURLOPT_NOPROXY, "");
  }
  set(CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (!settings.ca_file.empty()) {
    set(CURLOPT_CAINFO, settings.ca_file.c_str());
    set(CURLOPT_CAPATH, static_cast<char*>(nullptr));
  }
  if (!settings.certificate_file.empty()) {
    set(CURLOPT_SSLCERT, settings.certificate_file.c_str());
    set(CURLOPT_SSLKEY, settings.key_file.c_str());
  }
  set(CURLOPT_WRITEFUNCTION, on_body);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_HEADERFUNCTION, on_header);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_ERRORBUFFER, detail_);
}

// -------------------------------------------------------------------------------------------------
// What comes

std::size_t Transfer::on_header(char* bytes, std::size_t size, std::size_t count, void* self) {
  return static_cast<Transfer*>(self)->take_header({bytes, size * count}) ? size * count : 0;
}

std::size_t Transfer::on_body(char* bytes, std::size_t size, std::size_t count, void* self) {
  return static_cast<Transfer*>(self)->take_body({bytes, size * count}) ? size * count : 0;
}

bool Transfer::take_header(std::string_view line) {
  header_bytes_ += line.size();
  too_large_ = header_bytes_ > max_header_bytes;
  if (too_large_) return false;
  if (line.starts_with("HTTP/")) response_.headers.clear();  // those before were of a 1xx
  const auto colon = line.find(':');
  if (colon == line.npos || line.starts_with("HTTP/")) return true;
  std::string_view value = line.substr(colon + 1);
  const auto begin = value.find_first_not_of(" \t\r\n");
  value = begin == value.npos ? std::string_view() : value.substr(begin);
  value = value.substr(0, value.find_last_not_of(" \t\r\n") + 1);
  response_.headers.push_back({std::string(line.substr(0, colon)), std::string(value)});
  return true;
}

bool Transfer::take_body(std::string_view bytes) {
  if (request_.on_body) {
    long status = 0;
    curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &status);
    if (status >= 200 && status < 300) {
      try {
        request_.on_body(bytes);
      } catch (...) {
        thrown_ = std::current_exception();
        return false;
      }
      return true;
    }
  }
  if (request_.discard_body) return true;
  too_large_ = response_.body.size() + bytes.size() > max_body_bytes_;
  if (too_large_) return false;
  response_.body.append(bytes);
  return true;
}

Answer Transfer::take_answer(CURLcode code) {
  long status = 0;
  curl_off_t retry_after = 0;
  curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(curl_, CURLINFO_RETRY_AFTER, &retry_after);
  if (too_large_ || code == CURLE_FILESIZE_EXCEEDED)
    return Failure{Failure::Kind::too_large,
                   "sent more than " + std::to_string(max_body_bytes_) + " bytes", "",
                   static_cast<int>(status)};
  if (code != CURLE_OK)
    return Failure{kind_of(code), curl_easy_strerror(code), detail_, static_cast<int>(status)};
  response_.status = static_cast<int>(status);
  if (retry_after > 0)
    response_.retry_after =
        std::chrono::seconds(std::min<std::int64_t>(retry_after, longest_retry_after));
  return std::move(response_);
}

bool Transfer::repair_clock(const Answer& answer, const Settings& settings, Time now) {
  const auto* const hawk = std::get_if<HawkSignature>(&request_.authorization);
  if (!hawk || repaired_ || !answer || answer->status != 401) return false;
  hawk::ServerClock& clock = *settings.server_clock;
  const bool is_signed = clock.observe_challenge(answer->header("WWW-Authenticate"),
                                                 hawk->credentials.access_token, now);
  if (!is_signed && hawk->trust_date)
    if (const auto date = hawk::parse_http_date(answer->header("Date"))) clock.observe(*date, now);
  repaired_ = clock.explains_refusal(signed_offset_);
  return repaired_;
}

}  // namespace muster::http_client
