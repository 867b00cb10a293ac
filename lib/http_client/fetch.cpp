#include "lib/http_client/fetch.hpp"

#include <algorithm>
#include <cctype>
#include <curl/curl.h>
#include <map>
#include <optional>

namespace muster {
namespace {

constexpr int look_every_ms = 50;  // at the context, while nothing comes
constexpr std::size_t most_header_bytes = 64 << 10;
constexpr std::int64_t longest_retry_after = 3600;

struct Transfer {
  CURL* curl = curl_easy_init();
  curl_slist* headers = nullptr;
  std::size_t number = 0, header_bytes = 0, max_bytes = 0;
  bool too_large = false, discard_body = false;
  std::string body;  // of the request
  Fetched fetched;

  Transfer() = default;
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
  }
};

std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* to) {
  auto& transfer = *static_cast<Transfer*>(to);
  if (transfer.discard_body) return size * count;
  transfer.too_large = transfer.fetched.body.size() + size * count > transfer.max_bytes;
  if (transfer.too_large) return 0;
  transfer.fetched.body.append(bytes, size * count);
  return size * count;
}

std::string_view value_of(std::string_view line, std::string_view name) {
  if (line.size() <= name.size() || line[name.size()] != ':') return {};
  for (std::size_t i = 0; i < name.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(line[i])) != name[i]) return {};
  line.remove_prefix(name.size() + 1);
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  return line;
}

std::size_t take_header(char* bytes, std::size_t size, std::size_t count, void* to) {
  auto& transfer = *static_cast<Transfer*>(to);
  transfer.header_bytes += size * count;
  transfer.too_large = transfer.header_bytes > most_header_bytes;
  if (transfer.too_large) return 0;
  const std::string_view line(bytes, size * count);
  if (const auto value = value_of(line, "www-authenticate"); !value.empty())
    transfer.fetched.www_authenticate = value;
  if (const auto value = value_of(line, "date"); !value.empty())
    if (const auto time = curl_getdate(std::string(value).c_str(), nullptr); time > 0)
      transfer.fetched.server_seconds = time;
  return size * count;
}

}  // namespace

struct Fetcher::Impl {
  FetchSettings settings;
  CURLM* multi = curl_multi_init();
  std::vector<std::unique_ptr<Transfer>> idle;
  std::map<CURL*, std::unique_ptr<Transfer>> busy;

  void begin(const FetchRequest& request, std::size_t number, const Context& context) {
    if (idle.empty()) idle.push_back(std::make_unique<Transfer>());
    auto transfer = std::move(idle.back());
    idle.pop_back();
    CURL* curl = transfer->curl;
    curl_easy_reset(curl);  // options only: its connections belong to the multi handle
    curl_slist_free_all(transfer->headers);
    transfer->headers = nullptr;
    for (const std::string& header : request.headers)
      transfer->headers = curl_slist_append(transfer->headers, header.c_str());
    transfer->fetched = {};
    transfer->number = number;
    transfer->header_bytes = 0;
    transfer->too_large = false;
    transfer->max_bytes = settings.max_answer_bytes;
    transfer->discard_body = settings.discard_body;
    if (request.body) {
      transfer->body = *request.body;
      transfer->headers = curl_slist_append(transfer->headers, "Expect:");  // no waiting for it
      curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(transfer->body.size()));
      curl_easy_setopt(curl, CURLOPT_POSTFIELDS, transfer->body.c_str());
    }
    const auto time = std::min(settings.timeout, context.time_left());
    curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, transfer->headers);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, std::max<long>(1, static_cast<long>(time.count())));
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, 10'000L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer.get());
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer.get());
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "muster");
    if (!settings.ca_file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, settings.ca_file.c_str());
    curl_multi_add_handle(multi, curl);
    busy.emplace(curl, std::move(transfer));
  }

  void end(CURL* curl, const std::string& error,
           const std::function<void(std::size_t, Fetched)>& done) {
    auto found = busy.find(curl);
    auto transfer = std::move(found->second);
    busy.erase(found);
    curl_multi_remove_handle(multi, curl);
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    transfer->fetched.status = error.empty() ? status : 0;
    transfer->fetched.error = error;
    curl_off_t retry_after = 0;
    curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &retry_after);
    if (retry_after > 0)
      transfer->fetched.retry_after =
          std::chrono::seconds(std::min<std::int64_t>(retry_after, longest_retry_after));
    if (transfer->too_large)
      transfer->fetched.error =
          "sent more than " + std::to_string(settings.max_answer_bytes) + " bytes";
    done(transfer->number, std::move(transfer->fetched));
    idle.push_back(std::move(transfer));
  }
};

Fetcher::Fetcher(FetchSettings settings) : impl_(std::make_unique<Impl>()) {
  impl_->settings = std::move(settings);
  const long connections = static_cast<long>(impl_->settings.at_once);
  curl_multi_setopt(impl_->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections);
  curl_multi_setopt(impl_->multi, CURLMOPT_MAXCONNECTS, connections);
}

Fetcher::~Fetcher() {
  for (const auto& [curl, transfer] : impl_->busy) curl_multi_remove_handle(impl_->multi, curl);
  impl_->busy.clear();
  impl_->idle.clear();
  curl_multi_cleanup(impl_->multi);
}

void Fetcher::run(const std::function<bool(FetchRequest&)>& next,
                  const std::function<void(std::size_t, Fetched)>& done, const Context& context) {
  std::size_t number = 0;
  bool more = true;
  for (;;) {
    while (more && impl_->busy.size() < impl_->settings.at_once && !context.cancelled()) {
      FetchRequest request;
      more = next(request);
      if (more) impl_->begin(request, number++, context);
    }
    if (impl_->busy.empty()) return;
    if (context.cancelled()) break;
    int running = 0, waiting = 0;
    curl_multi_perform(impl_->multi, &running);
    bool any = false;
    while (CURLMsg* message = curl_multi_info_read(impl_->multi, &waiting)) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      impl_->end(message->easy_handle, code == CURLE_OK ? "" : curl_easy_strerror(code), done);
      any = true;
    }
    if (!any) curl_multi_poll(impl_->multi, nullptr, 0, look_every_ms, nullptr);
  }
  while (!impl_->busy.empty())
    impl_->end(impl_->busy.begin()->first, "was not waited for any longer", done);
}

}  // namespace muster
