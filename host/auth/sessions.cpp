#include "host/auth/sessions.hpp"

#include <algorithm>
#include <future>

#include "host/store/row.hpp"
#include "lib/base/secret.hpp"

namespace muster::auth {
namespace {

// A disk that does not answer keeps nobody from logging out.
constexpr std::chrono::seconds patience{2};

store::Change forget(const Sha256& digest) {
  return store::erase<SessionRow>({to_hex(digest)});
}

}  // namespace

Result<void> Sessions::keep(const store::Store& store, Submit submit, const std::string& host_id,
                            Time now) {
  store::Batch expired;
  const std::lock_guard guard(mutex_);
  const auto read = store::read_rows<SessionRow>(store, [&](SessionRow row) {
    const auto digest = sha256_from_hex(row.digest);
    const auto key = sha256_from_hex(row.key);
    if (!digest || !key || row.expires <= now)
      expired.push_back(store::erase<SessionRow>({row.digest}));
    else
      sessions_[*digest] = {{row.kind, std::move(row.client_id), *key}, row.expires};
  });
  if (!read) return read.error();
  name_ = "muster-" + sha256_hex("cookie " + host_id).substr(0, 8);
  submit_ = std::move(submit);
  this->submit(std::move(expired));
  return {};
}

void Sessions::submit(store::Batch batch) const {
  if (submit_ && !batch.empty()) submit_(std::move(batch), {});
}

void Sessions::drop_surplus(const Owner& owner, Time now, store::Batch& ended) {
  const auto drop = [&](ByDigest::iterator at) {
    ended.push_back(forget(at->first));
    return sessions_.erase(at);
  };
  for (auto at = sessions_.begin(); at != sessions_.end();)
    at = at->second.expires <= now ? drop(at) : std::next(at);
  const auto drop_oldest = [&](auto counts) {
    auto oldest = sessions_.end();
    for (auto at = sessions_.begin(); at != sessions_.end(); ++at)
      if (counts(at->second) &&
          (oldest == sessions_.end() || at->second.expires < oldest->second.expires))
        oldest = at;
    if (oldest != sessions_.end()) drop(oldest);
  };
  const auto of_client = [&](const Session& each) {
    return each.owner.kind == owner.kind && each.owner.client_id == owner.client_id;
  };
  if (std::cmp_greater_equal(
          std::ranges::count_if(sessions_, [&](const auto& e) { return of_client(e.second); }),
          most_of_client))
    drop_oldest(of_client);
  if (sessions_.size() >= most) drop_oldest([](const Session&) { return true; });
}

std::string Sessions::open(Owner owner, Time now) {
  std::string cookie = random_token().reveal();
  const Sha256 digest = sha256(cookie);
  store::Batch batch;
  const std::lock_guard guard(mutex_);
  drop_surplus(owner, now, batch);
  batch.push_back(store::put(
      SessionRow{to_hex(digest), owner.kind, owner.client_id, to_hex(owner.key), now + lifetime}));
  sessions_[digest] = {std::move(owner), now + lifetime};
  submit(std::move(batch));
  return cookie;
}

std::optional<Sessions::Session> Sessions::find(std::string_view cookie, Time now) const {
  const Sha256 digest = sha256(cookie);
  const std::lock_guard guard(mutex_);
  const auto found = sessions_.find(digest);
  if (found == sessions_.end() || found->second.expires <= now) return std::nullopt;
  return found->second;
}

void Sessions::close(std::string_view cookie) {
  const Sha256 digest = sha256(cookie);
  const auto durable = std::make_shared<std::promise<void>>();
  {
    const std::lock_guard guard(mutex_);
    if (sessions_.erase(digest) == 0 || !submit_) return;
    if (!submit_({forget(digest)}, [durable] { durable->set_value(); })) return;
  }
  durable->get_future().wait_for(patience);
}

void Sessions::close_all_of(ClientKind kind, const std::string& client_id) {
  store::Batch batch;
  const std::lock_guard guard(mutex_);
  for (auto at = sessions_.begin(); at != sessions_.end();) {
    const bool ends = at->second.owner.kind == kind && at->second.owner.client_id == client_id;
    if (ends) batch.push_back(forget(at->first));
    at = ends ? sessions_.erase(at) : std::next(at);
  }
  submit(std::move(batch));
}

std::string Sessions::csrf_token(std::string_view cookie) {
  return sha256_hex("csrf\n" + std::string(cookie));
}

CookieValue find_cookie(std::string_view header, std::string_view name) {
  CookieValue found;
  while (!header.empty()) {
    const auto end = std::min(header.find(';'), header.size());
    std::string_view pair = header.substr(0, end);
    header.remove_prefix(std::min(end + 1, header.size()));
    while (pair.starts_with(' ')) pair.remove_prefix(1);
    if (!pair.starts_with(name) || !pair.substr(name.size()).starts_with('=')) continue;
    found.value = pair.substr(name.size() + 1);
    ++found.count;
  }
  return found;
}

}  // namespace muster::auth
