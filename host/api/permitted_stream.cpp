#include "host/api/permitted_stream.hpp"

#include "host/auth/authority.hpp"

namespace muster::api {
namespace {

constexpr std::chrono::seconds between_checks{1};

class PermittedStream final : public http::Stream {
 public:
  PermittedStream(const endpoints::Call& call, std::shared_ptr<http::Stream> inner)
      : head_(call.request().head()),
        authority_(*call.host().authority),
        clock_(call.host().clock),
        inner_(std::move(inner)),
        checked_(clock_->steady()) {
    for (const std::string_view scope : call.endpoint().scopes.list())
      scopes_.emplace_back(std::string(scope));
  }

  More pull(std::string& out) override {
    if (const auto now = clock_->steady(); now - checked_ >= between_checks) {
      checked_ = now;
      const auto caller = authority_.authenticate_again(head_);
      if (!caller || !(*caller)->scopes.satisfies_all(scopes_)) return More::end;
    }
    return inner_->pull(out);
  }

 private:
  const http::Request head_;
  const auth::Authority& authority_;
  const std::shared_ptr<const Clock> clock_;
  const std::shared_ptr<http::Stream> inner_;
  std::vector<std::string> scopes_;
  SteadyTime checked_;
};

}  // namespace

std::shared_ptr<http::Stream> while_permitted(const endpoints::Call& call,
                                              std::shared_ptr<http::Stream> stream) {
  if (!call.host().authority) return stream;
  return std::make_shared<PermittedStream>(call, std::move(stream));
}

}  // namespace muster::api
