#include "lib/mail/smtp.hpp"

#include <algorithm>
#include <curl/curl.h>
#include <memory>

#include "lib/base/secret_file.hpp"
#include "lib/mail/address.hpp"

namespace muster::mail {
namespace {

constexpr long connect_milliseconds = 10'000;

struct EndCurl {
  void operator()(CURL* curl) const { curl_easy_cleanup(curl); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

struct Upload {
  std::string text;
  std::size_t sent = 0;
};

std::size_t give_bytes(char* to, std::size_t size, std::size_t count, void* from) {
  auto& upload = *static_cast<Upload*>(from);
  const std::size_t bytes = upload.text.copy(to, size * count, upload.sent);
  upload.sent += bytes;
  return bytes;
}

// Follows the conversation for who is refused: libcurl says only whether all of them were.
struct Recipients {
  std::string asked;  // the address that the server was asked about last; empty: something else
  std::vector<std::string> refused;

  void note_command(std::string_view line) {
    constexpr std::string_view begin = "RCPT TO:<";
    const bool is_recipient = line.starts_with(begin) && line.find('>') != line.npos;
    asked = is_recipient ? line.substr(begin.size(), line.find('>') - begin.size()) : "";
  }
  void note_answer(std::string_view line) {
    if (asked.empty() || line.size() < 3 || (line.size() > 3 && line[3] == '-')) return;
    if (line[0] != '2') refused.push_back(asked);
    asked.clear();
  }
};

int follow(CURL*, curl_infotype kind, char* data, std::size_t size, void* recipients) {
  auto& known = *static_cast<Recipients*>(recipients);
  if (kind == CURLINFO_HEADER_OUT) known.note_command({data, size});
  if (kind == CURLINFO_HEADER_IN) known.note_answer({data, size});
  return 0;
}

int stop_if_asked(void* stop, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return *static_cast<const std::atomic<bool>*>(stop) ? 1 : 0;
}

Error error_of(CURLcode code, long status, const char* detail) {
  const std::string why = *detail ? detail : curl_easy_strerror(code);
  if (code == CURLE_ABORTED_BY_CALLBACK) return Error::cancelled("the host is stopping");
  if (code == CURLE_LOGIN_DENIED)
    return Error::auth("the mail server does not accept user and password: " + why);
  if (code == CURLE_USE_SSL_FAILED)
    return Error::transient(
        "the mail server does not offer STARTTLS, and nothing is sent in plain text: " + why);
  if (status >= 500) return Error::invalid("the mail server refuses the mail: " + why);
  return Error::transient("the mail server did not take the mail: " + why);
}

Result<void> check(const Message& message) {
  if (!is_address(message.from)) return Error::invalid("the sender is no plain mail address");
  if (message.to.empty()) return Error::invalid("a mail needs a recipient");
  for (const std::string& address : message.to)
    if (!is_address(address)) return Error::invalid("a recipient is no plain mail address");
  return {};
}

}  // namespace

Result<Sent> send(const Server& server, const Message& message, const std::atomic<bool>& stop) {
  if (const auto good = check(message); !good) return good.error();
  Secret password{std::string()};
  if (!server.user.empty() && !server.password_file.empty()) {
    auto read = read_secret_file(server.password_file, "the password of the mail server");
    if (!read) return read.error();
    password = std::move(*read);
  }
  const std::unique_ptr<CURL, EndCurl> curl(curl_easy_init());
  if (!curl) return Error::transient("libcurl cannot be used: it is out of memory");
  const auto set = [&](CURLoption option, auto value) {
    curl_easy_setopt(curl.get(), option, value);
  };
  char detail[CURL_ERROR_SIZE] = "";
  Upload upload{to_text(message), 0};
  Recipients followed;
  curl_slist* recipients = nullptr;
  for (const std::string& address : message.to)
    recipients = curl_slist_append(recipients, ("<" + address + ">").c_str());
  const std::unique_ptr<curl_slist, EndCurl> owned(recipients);
  const std::string from = "<" + message.from + ">";
  set(CURLOPT_ERRORBUFFER, detail);
  set(CURLOPT_URL, server.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  set(CURLOPT_PROXY, "");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS,
      std::min(connect_milliseconds, static_cast<long>(server.timeout.count())));
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(server.timeout.count()));
  set(CURLOPT_USE_SSL, static_cast<long>(server.start_tls ? CURLUSESSL_ALL : CURLUSESSL_NONE));
  if (!server.ca_file.empty()) {
    set(CURLOPT_CAINFO, server.ca_file.c_str());
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
  if (!server.user.empty()) {
    set(CURLOPT_USERNAME, server.user.c_str());
    set(CURLOPT_PASSWORD, password.reveal().c_str());
  }
  set(CURLOPT_MAIL_FROM, from.c_str());
  set(CURLOPT_MAIL_RCPT, recipients);
  set(CURLOPT_MAIL_RCPT_ALLLOWFAILS, 1L);  // the others get it
  set(CURLOPT_VERBOSE, 1L);                // to follow(), and nowhere else
  set(CURLOPT_DEBUGFUNCTION, follow);
  set(CURLOPT_DEBUGDATA, static_cast<void*>(&followed));
  set(CURLOPT_READFUNCTION, give_bytes);
  set(CURLOPT_READDATA, static_cast<void*>(&upload));
  set(CURLOPT_UPLOAD, 1L);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, stop_if_asked);
  set(CURLOPT_XFERINFODATA, const_cast<void*>(static_cast<const void*>(&stop)));
  const CURLcode code = curl_easy_perform(curl.get());
  if (code == CURLE_OK) return Sent{std::move(followed.refused)};
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  return error_of(code, status, detail);
}

}  // namespace muster::mail
