// One request on its way through libcurl.
#pragma once

#include <curl/curl.h>
#include <exception>

#include "lib/http_client/client.hpp"

namespace muster::http_client {

// Reused from request to request. Stays where it is: libcurl holds its address.
class Transfer {
 public:
  Transfer();
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  CURL* handle() const { return curl_; }
  std::size_t number() const { return number_; }

  // Sets everything but starts nothing. A failure if the request cannot be sent.
  std::optional<Failure> prepare(Request request, std::size_t number, const Settings& settings,
                                 const Cancellation& cancellation);
  // The answer, after libcurl has ended with `code`.
  Answer take_answer(CURLcode code);
  // After an answer: whether to send the same request again, because the time of its signature was
  // wrong and the server's is known now. prepare_again() then sets it up.
  bool repair_clock(const Answer& answer, const Settings& settings, Time now);
  std::optional<Failure> prepare_again(const Settings& settings, const Cancellation& cancellation);

  // What Request::on_body threw; libcurl is C, so it could not pass.
  std::exception_ptr thrown() const { return thrown_; }

 private:
  static std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* self);
  bool take_header(std::string_view line);
  bool take_body(std::string_view bytes);

  std::optional<Failure> set_headers(const Url& url, const Settings& settings, Time now);
  bool add_header(const Header& header);
  void set_body();
  void set_connection(const Settings& settings, std::chrono::milliseconds timeout);
  std::string authorization(const Url& url, const Settings& settings, Time now);
  std::string_view request_header(std::string_view name) const;

  CURL* const curl_;
  curl_slist* header_list_ = nullptr;
  Request request_;
  std::size_t number_ = 0;
  std::chrono::milliseconds signed_offset_{0};
  bool repaired_ = false;

  std::size_t max_body_bytes_ = 0, header_bytes_ = 0;
  bool too_large_ = false;
  Response response_;
  std::exception_ptr thrown_;
  char detail_[CURL_ERROR_SIZE] = "";
};

}  // namespace muster::http_client
