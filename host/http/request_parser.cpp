#include "host/http/request_parser.hpp"

#include <optional>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace muster::http {
namespace {

namespace beast = boost::beast;
using BeastParser = beast::http::request_parser<beast::http::string_body>;

// Room for a chunk's head, which the parser wants to see whole.
constexpr std::size_t max_chunk_head = 8 * 1024;

}  // namespace

struct RequestParser::Impl {
  RequestLimits limits;
  std::optional<BeastParser> parser;
  State state = State::head;
  bool begun = false, expectation = false;
  Failure failure;

  void reset() {
    parser.emplace();
    parser->header_limit(static_cast<std::uint32_t>(limits.max_header_bytes));
    parser->body_limit(limits.max_body_bytes);
    parser->eager(true);
    state = State::head;
    begun = expectation = false;
  }

  void fail(int status, std::string message) {
    state = State::failed;
    failure = {status, std::move(message)};
  }

  void fail(const beast::error_code& error) {
    namespace http = beast::http;
    if (error == http::error::header_limit)
      return fail(431, "the request's head is larger than " +
                           std::to_string(limits.max_header_bytes) + " bytes");
    if (error == http::error::body_limit)
      return fail(413, "the request's body is larger than " +
                           std::to_string(limits.max_body_bytes) + " bytes");
    if (error == http::error::bad_version)
      return fail(505, "this server speaks HTTP/1.1 and HTTP/1.0");
    fail(400, "this is not an HTTP request: " + error.message());
  }

  // What Beast lets through and a proxy in front of us might read in another way.
  void check_head() {
    namespace http = beast::http;
    const auto& message = parser->get();
    const auto hosts = message.count(http::field::host);
    if (hosts > 1 || (hosts == 0 && message.version() >= 11))
      return fail(400,
                  "a request has exactly one Host header, this one has " + std::to_string(hosts));
    const auto encodings = message.equal_range(http::field::transfer_encoding);
    for (auto encoding = encodings.first; encoding != encodings.second; ++encoding)
      if (!beast::iequals(encoding->value(), "chunked") || message.version() < 11)
        return fail(501, "the only Transfer-Encoding that is understood is chunked");
    const auto expect = message[http::field::expect];
    expectation = beast::iequals(expect, "100-continue");
    if (message.target().empty() || message.target().front() != '/')
      fail(400, "the request's target must be a path that begins with /");
  }
};

RequestParser::RequestParser(RequestLimits limits) : impl_(new Impl{limits, {}, {}, {}, {}, {}}) {
  impl_->reset();
}
RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;

std::size_t RequestParser::feed(std::string_view bytes) {
  Impl& impl = *impl_;
  std::size_t used = 0;
  if (!impl.begun) {  // RFC 9112, 2.2: empty lines before a request are ignored
    while (bytes.substr(used, 2) == "\r\n") used += 2;
    if (bytes.substr(used) == "\r") return used;
  }
  while (used < bytes.size() && (impl.state == State::head || impl.state == State::body)) {
    impl.begun = true;
    beast::error_code error;
    const std::string_view rest = bytes.substr(used);
    const std::size_t taken =
        impl.parser->put(boost::asio::buffer(rest.data(), rest.size()), error);
    used += taken;
    if (impl.state == State::head && impl.parser->is_header_done()) {
      impl.state = State::body;
      impl.check_head();
      if (impl.state == State::failed) break;
    }
    if (error == beast::http::error::need_more) {
      if (impl.state == State::body && bytes.size() - used > max_chunk_head)
        impl.fail(400, "a chunk's head is too long");
      break;
    }
    if (error) {
      impl.fail(error);
      break;
    }
    if (impl.parser->is_done()) impl.state = State::complete;
    if (taken == 0 && impl.state != State::complete) break;
  }
  return used;
}

RequestParser::State RequestParser::state() const {
  return impl_->state;
}

bool RequestParser::has_begun() const {
  return impl_->begun;
}

bool RequestParser::take_expectation() {
  return std::exchange(impl_->expectation, false);
}

Request RequestParser::take() {
  auto message = impl_->parser->release();
  Request request;
  request.method = std::string(message.method_string());
  const std::string_view target(message.target().data(), message.target().size());
  const auto question = target.find('?');
  request.path = target.substr(0, question);
  request.has_query = question != std::string_view::npos;
  if (request.has_query) request.query = target.substr(question + 1);
  for (const auto& field : message)
    request.headers.push_back({std::string(field.name_string()), std::string(field.value())});
  request.host_header = std::string(message[beast::http::field::host]);
  request.http_1_0 = message.version() < 11;
  request.keep_alive = message.keep_alive();
  request.body = std::move(message.body());
  impl_->reset();
  return request;
}

const RequestParser::Failure& RequestParser::failure() const {
  return impl_->failure;
}

}  // namespace muster::http
