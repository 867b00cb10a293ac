#include "agent/http_parser.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "lib/base/letter_case.hpp"

namespace muster::agent {
namespace {

namespace http = boost::beast::http;

constexpr std::uint32_t max_head = 32 * 1024;

Error not_http(const std::string& what) {
  return Error::transient("the answer is not HTTP: " + what);
}

Error error_of(const boost::system::error_code& code) {
  if (code == http::error::header_limit)
    return Error::transient("the answer's head is larger than 32 KiB");
  if (code == http::error::body_limit || code == http::error::buffer_overflow)
    return Error::transient("the answer is larger than it may be");
  if (code == http::error::partial_message || code == http::error::end_of_stream)
    return Error::transient("the answer was cut off");
  return not_http(code.message());
}

std::string copy(boost::beast::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

struct HttpParser::Impl {
  explicit Impl(std::size_t max) : max_body(max) { begin(); }

  void begin() {
    parser.emplace();
    parser->eager(true);
    parser->header_limit(max_head);
    parser->body_limit(max_body);
  }

  // What Beast lets pass: statuses that do not exist, and encodings that nobody here can read.
  Result<void> check_head() const {
    const auto& head = parser->get();
    if (head.result_int() < 100 || head.result_int() > 599)
      return not_http("it has no status line");
    const auto coding = head.find(http::field::transfer_encoding);
    if (coding != head.end() && to_lower(copy(coding->value())) != "chunked")
      return not_http("it is encoded as " + to_lower(copy(coding->value())));
    return {};
  }

  const std::size_t max_body;
  std::optional<http::response_parser<http::string_body>> parser;
  std::string pending;  // what the parser did not take yet
  bool any = false, head_checked = false;
};

HttpParser::HttpParser(std::size_t max_body) : impl_(std::make_unique<Impl>(max_body)) {}
HttpParser::~HttpParser() = default;

Result<bool> HttpParser::feed(std::string_view bytes) {
  Impl& impl = *impl_;
  impl.any = impl.any || !bytes.empty();
  impl.pending.append(bytes);
  while (!impl.pending.empty() && !impl.parser->is_done()) {
    boost::system::error_code failed;
    const std::size_t taken =
        impl.parser->put(boost::asio::buffer(std::as_const(impl.pending)), failed);
    impl.pending.erase(0, taken);
    if (failed && failed != http::error::need_more) return error_of(failed);
    if (impl.parser->is_header_done() && !std::exchange(impl.head_checked, true))
      if (const auto checked = impl.check_head(); !checked) return checked.error();
    if (impl.parser->is_done() && impl.parser->get().result_int() < 200) {
      impl.begin();  // the real answer follows
      impl.head_checked = false;
      continue;
    }
    if (failed) break;
  }
  // Beast itself has no limit for the size line of a chunk and for trailers.
  if (impl.pending.size() > max_head) return not_http("a line never ends");
  return impl.parser->is_done();
}

Result<void> HttpParser::end() {
  if (!impl_->any) return Error::transient("the server closed the connection without an answer");
  if (impl_->parser->is_done()) return {};
  boost::system::error_code failed;
  impl_->parser->put_eof(failed);
  if (failed) return error_of(failed);
  if (!impl_->parser->is_done()) return Error::transient("the answer was cut off");
  return {};
}

HttpAnswer HttpParser::take() {
  auto message = impl_->parser->release();
  HttpAnswer answer;
  answer.status = static_cast<int>(message.result_int());
  for (const auto& field : message)
    answer.headers.emplace(to_lower(copy(field.name_string())), copy(field.value()));
  answer.body = std::move(message.body());
  return answer;
}

}  // namespace muster::agent
