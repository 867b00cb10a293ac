#include "lib/http/request_parser.hpp"

#include <algorithm>
#include <optional>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

namespace muster::http {
namespace {

namespace beast = boost::beast;
using beast::error_code;
using beast::http::field;

// Room for a chunk's head, which the parser wants to see whole.
constexpr std::size_t max_chunk_head = 8 * 1024;
// The end of every chunked body is at least "0\r\n\r\n". Beast 1.81 asserts that it sees that much
// when it comes back to a last chunk, so it is not shown less.
constexpr std::size_t least_chunk = 5;
// A length that is only announced is not worth more memory than this.
constexpr std::uint64_t least_body = 4 * 1024;

std::string_view view(beast::string_view text) {
  return {text.data(), text.size()};
}

// Writes what Beast finds straight into a request: its own message would be a second copy of
// everything, with an allocation for each header.
class Filler final : public beast::http::basic_parser<true> {
 public:
  Request request;
  int hosts = 0, authorizations = 0, lengths = 0;
  bool odd_encoding = false, expectation = false, discarding = false;
  std::uint64_t max_body = 0;
  std::optional<std::uint64_t> announced;

 private:
  void on_request_impl(beast::http::verb, beast::string_view method, beast::string_view target,
                       int version, error_code&) override {
    request.method = view(method);
    const std::string_view whole = view(target);
    const auto question = whole.find('?');
    request.path = whole.substr(0, question);
    request.has_query = question != std::string_view::npos;
    if (request.has_query) request.query = whole.substr(question + 1);
    request.http_1_0 = version < 11;
    request.headers.reserve(12);
  }
  void on_response_impl(int, beast::string_view, int, error_code&) override {}

  void on_field_impl(field name, beast::string_view spelled, beast::string_view value,
                     error_code&) override {
    if (in_body_) return;  // trailers: nobody may add to a head that was checked
    if (name == field::host) {
      ++hosts;
      request.host_header = view(value);
    }
    if (name == field::authorization) ++authorizations;
    if (name == field::content_length) lengths += value.find(',') == value.npos ? 1 : 2;
    if (name == field::transfer_encoding)
      odd_encoding |= request.http_1_0 || !beast::iequals(value, "chunked");
    if (name == field::expect) expectation |= beast::iequals(value, "100-continue");
    request.headers.push_back({std::string(view(spelled)), std::string(view(value))});
  }
  void on_header_impl(error_code&) override {
    in_body_ = true;
    request.keep_alive = keep_alive();
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(beast::string_view piece, error_code& error) override {
    return keep(piece, error);
  }
  void on_chunk_header_impl(std::uint64_t, beast::string_view extensions,
                            error_code& error) override {
    extension_bytes_ += extensions.size();
    if (extension_bytes_ > max_chunk_head) error = beast::http::error::bad_chunk_extension;
  }
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view piece,
                                 error_code& error) override {
    return keep(piece, error);
  }
  void on_finish_impl(error_code&) override {}

  std::size_t keep(beast::string_view piece, error_code& error) {
    kept_ += piece.size();
    if (kept_ > max_body) {
      error = beast::http::error::body_limit;
      return 0;
    }
    if (discarding) return piece.size();
    std::string& body = request.body;
    if (body.size() + piece.size() > body.capacity()) make_room(body.size() + piece.size());
    body.append(piece.data(), piece.size());
    return piece.size();
  }

  // By doubling, but not beyond the end that was announced. A string that grows by itself would
  // double in any case.
  void make_room(std::uint64_t wanted) {
    const std::uint64_t doubled = std::max<std::uint64_t>(2 * request.body.capacity(), least_body);
    std::string larger;
    larger.reserve(std::max(wanted, std::min(doubled, announced.value_or(doubled))));
    larger.append(request.body);
    request.body = std::move(larger);
  }

  bool in_body_ = false;
  std::uint64_t kept_ = 0, extension_bytes_ = 0;
};

// A line that continues the one before it (RFC 9112, 5.2), which others may read as a line of its
// own.
bool has_folded_line(std::string_view head) {
  if (head.starts_with(' ') || head.starts_with('\t')) return true;
  for (auto at = head.find('\n'); at != head.npos && at + 1 < head.size();
       at = head.find('\n', at + 1))
    if (head[at + 1] == ' ' || head[at + 1] == '\t') return true;
  return false;
}

}  // namespace

struct RequestParser::Impl {
  RequestLimits limits;
  std::optional<Filler> parser;
  State state = State::head;
  bool begun = false, head_is_new = false;
  std::string reason_of_limit;
  Failure failure;

  void reset() {
    parser.emplace();
    parser->header_limit(static_cast<std::uint32_t>(limits.max_header_bytes));
    parser->body_limit(limits.max_body_bytes);
    parser->max_body = limits.max_body_bytes;
    reason_of_limit.clear();
    state = State::head;
    begun = head_is_new = false;
  }

  void fail(int status, std::string message) {
    state = State::failed;
    failure = {status, std::move(message)};
  }

  void fail(const error_code& error) {
    namespace http = beast::http;
    if (error == http::error::header_limit)
      return fail(431, "the request's head is larger than " +
                           std::to_string(limits.max_header_bytes) + " bytes");
    if (error == http::error::body_limit) return fail_body_limit();
    if (error == http::error::bad_version)
      return fail(505, "this server speaks HTTP/1.1 and HTTP/1.0");
    fail(400, "this is not an HTTP request: " + error.message());
  }

  void fail_body_limit() {
    fail(413, "the request's body is larger than " + std::to_string(parser->max_body) + " bytes" +
                  reason_of_limit);
  }

  // What Beast lets through and a proxy in front of us might read in another way.
  void check_head() {
    const Request& request = parser->request;
    if (parser->authorizations > 1)
      return fail(400, "a request has one Authorization header at most, this one has " +
                           std::to_string(parser->authorizations));
    if (parser->hosts > 1 || (parser->hosts == 0 && !request.http_1_0))
      return fail(400, "a request has exactly one Host header, this one has " +
                           std::to_string(parser->hosts));
    if (parser->lengths > 1) return fail(400, "the request says its length more than once");
    if (parser->odd_encoding)
      return fail(501, "the only Transfer-Encoding that is understood is chunked");
    if (!request.path.starts_with('/'))
      fail(400, "the request's target must be a path that begins with /");
  }

  // Of the bytes that were taken last.
  void finish_head(std::string_view taken) {
    if (has_folded_line(taken))
      return fail(400, "a header goes on in the next line; write it in one line");
    if (!parser->is_header_done()) return;
    state = parser->is_done() ? State::complete : State::body;
    if (const auto length = parser->content_length()) parser->announced = *length;
    check_head();
    head_is_new = state != State::failed;
    parser->eager(true);  // the rest of the bytes is the body
  }
};

RequestParser::RequestParser(RequestLimits limits) : impl_(new Impl) {
  impl_->limits = limits;
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
    error_code error;
    const std::string_view rest = bytes.substr(used);
    if (impl.state == State::body && impl.parser->chunked() && rest.size() < least_chunk) break;
    const std::size_t taken =
        impl.parser->put(boost::asio::buffer(rest.data(), rest.size()), error);
    used += taken;
    if (impl.state == State::head) {
      impl.finish_head(rest.substr(0, taken));
      if (impl.state != State::head) break;
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

Request* RequestParser::take_head() {
  return std::exchange(impl_->head_is_new, false) ? &impl_->parser->request : nullptr;
}

std::optional<std::uint64_t> RequestParser::announced_length() const {
  return impl_->state == State::complete ? 0 : impl_->parser->announced;
}

void RequestParser::limit_body(std::uint64_t bytes, std::string_view reason) {
  if (bytes >= impl_->parser->max_body) return;
  impl_->parser->max_body = bytes;
  impl_->reason_of_limit = reason;
  if (impl_->state == State::body && impl_->parser->announced.value_or(0) > bytes)
    impl_->fail_body_limit();
}

void RequestParser::discard_body() {
  impl_->parser->discarding = true;
  impl_->parser->request.body = {};
}

std::size_t RequestParser::buffered() const {
  const std::string& body = impl_->parser->request.body;
  return body.empty() ? 0 : body.capacity();
}

RequestParser::State RequestParser::state() const {
  return impl_->state;
}

bool RequestParser::has_begun() const {
  return impl_->begun;
}

bool RequestParser::take_expectation() {
  return std::exchange(impl_->parser->expectation, false);
}

Request RequestParser::take() {
  Request request = std::move(impl_->parser->request);
  impl_->reset();
  return request;
}

const RequestParser::Failure& RequestParser::failure() const {
  return impl_->failure;
}

}  // namespace muster::http
