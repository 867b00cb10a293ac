#include "host/auth/sessions.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "lib/base/atomic_file.hpp"
#include "lib/base/secret.hpp"

namespace muster::auth {
namespace {

constexpr std::size_t largest_file = 16 << 20;

std::string text_of(const json::object& document, std::string_view name) {
  const json::value* member = document.if_contains(name);
  return member && member->is_string() ? std::string(member->get_string()) : std::string();
}

// Nothing if the row is not whole.
std::optional<std::pair<Sha256, Sessions::Session>> session_of(const json::value& row) {
  const json::object* document = row.if_object();
  if (!document) return std::nullopt;
  const auto digest = sha256_from_hex(text_of(*document, "digest"));
  const auto key = sha256_from_hex(text_of(*document, "key"));
  const auto expires = parse_time(text_of(*document, "expires"));
  const std::string kind = text_of(*document, "kind");
  if (!digest || !key || !expires || (kind != "hawk" && kind != "token")) return std::nullopt;
  return std::pair(*digest,
                   Sessions::Session{{kind == "hawk" ? ClientKind::hawk : ClientKind::token,
                                      text_of(*document, "clientId"), *key},
                                     *expires});
}

}  // namespace

Result<void> Sessions::keep(const std::filesystem::path& file, Time now) {
  file_ = file;
  name_ = "muster-" + sha256_hex(random_token().reveal()).substr(0, 8);
  const auto text = read_file(file, largest_file);
  if (!text && text.error().error_class != ErrorClass::not_found) return text.error();
  if (text) {
    const auto document = json::parse_object(*text);
    if (!document) return document.error();
    if (const std::string name = text_of(*document, "name"); !name.empty()) name_ = name;
    if (const json::value* rows = document->if_contains("sessions"); rows && rows->is_array())
      for (const json::value& row : rows->get_array())
        if (auto known = session_of(row); known && known->second.expires > now)
          sessions_.insert(std::move(*known));
  }
  write();
  return {};
}

// A file that cannot be written costs people a log-in after the next start, and nothing else.
void Sessions::write() const {
  if (file_.empty()) return;
  const std::lock_guard one_at_a_time(writing_);
  json::array rows;
  {
    const std::lock_guard guard(mutex_);
    for (const auto& [digest, session] : sessions_)
      rows.push_back(
          json::object{{"digest", to_hex(digest)},
                       {"kind", session.owner.kind == ClientKind::hawk ? "hawk" : "token"},
                       {"clientId", session.owner.client_id},
                       {"key", to_hex(session.owner.key)},
                       {"expires", format_time(session.expires)}});
  }
  (void)write_file_atomically(
      file_, json::write(json::object{{"name", name_}, {"sessions", std::move(rows)}}), 0600);
}

void Sessions::drop_surplus(const Owner& owner, Time now) {
  std::erase_if(sessions_, [&](const auto& entry) { return entry.second.expires <= now; });
  const auto drop_oldest = [&](auto counts) {
    auto oldest = sessions_.end();
    for (auto at = sessions_.begin(); at != sessions_.end(); ++at)
      if (counts(at->second) &&
          (oldest == sessions_.end() || at->second.expires < oldest->second.expires))
        oldest = at;
    if (oldest != sessions_.end()) sessions_.erase(oldest);
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
  {
    const std::lock_guard guard(mutex_);
    drop_surplus(owner, now);
    sessions_[sha256(cookie)] = {std::move(owner), now + lifetime};
  }
  write();
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
  {
    const std::lock_guard guard(mutex_);
    if (sessions_.erase(sha256(cookie)) == 0) return;
  }
  write();
}

void Sessions::close_all_of(ClientKind kind, const std::string& client_id) {
  {
    const std::lock_guard guard(mutex_);
    if (std::erase_if(sessions_, [&](const auto& entry) {
          return entry.second.owner.kind == kind && entry.second.owner.client_id == client_id;
        }) == 0)
      return;
  }
  write();
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
