#include "host/api/session_stream.hpp"

#include "host/auth/authority.hpp"

namespace muster::api {
namespace {

// A log-out, a client that is disabled or a secret that is gone ends the stream after this time.
constexpr std::chrono::seconds between_checks{1};

class SessionStream final : public http::Stream {
 public:
  SessionStream(http::Request head, const auth::Authority& authority,
                std::shared_ptr<const Clock> clock, std::shared_ptr<http::Stream> inner)
      : head_(std::move(head)),
        authority_(authority),
        clock_(std::move(clock)),
        inner_(std::move(inner)),
        checked_(clock_->steady()) {}

  More pull(std::string& out) override {
    if (const auto now = clock_->steady(); now - checked_ >= between_checks) {
      checked_ = now;
      if (!authority_.authenticate_head(head_)) return More::end;
    }
    return inner_->pull(out);
  }

 private:
  const http::Request head_;
  const auth::Authority& authority_;
  const std::shared_ptr<const Clock> clock_;
  const std::shared_ptr<http::Stream> inner_;
  SteadyTime checked_;
};

}  // namespace

std::shared_ptr<http::Stream> while_session_lasts(const endpoints::Call& call,
                                                  std::shared_ptr<http::Stream> stream) {
  const auth::Authority* authority = call.host().authority;
  if (!authority || !authority->session_expires(call.request())) return stream;
  http::Request head;
  head.method = call.request().method;
  head.path = call.request().path;
  head.headers = call.request().headers;
  head.forwarded = call.request().forwarded;
  head.secure = call.request().secure;
  return std::make_shared<SessionStream>(std::move(head), *authority, call.host().clock,
                                         std::move(stream));
}

}  // namespace muster::api
