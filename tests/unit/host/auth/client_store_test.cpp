#include "host/auth/client_store.hpp"

#include <fstream>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/store/memory_store.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/host/auth/signed_request.hpp"

namespace muster::auth {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(SecretBoxTest, refuses_a_key_that_others_can_read_or_that_is_none) {
  testing::TemporaryFolder folder;
  const auto file = folder / "secrets.key";
  ASSERT_TRUE(SecretBox::open(file));
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  EXPECT_EQ(SecretBox::open(file).error().error_class, ErrorClass::config);
  ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
  std::ofstream(file) << "c2hvcnQ=\n";
  EXPECT_EQ(SecretBox::open(file).error().error_class, ErrorClass::config);
}

TEST(SecretBoxTest, opens_only_what_was_sealed_so) {
  testing::TemporaryFolder folder;
  const auto box = SecretBox::open(folder / "key").value();
  const std::string sealed = box.seal(Secret("hush"), "me");
  EXPECT_EQ(sealed.find("hush"), std::string::npos);
  EXPECT_NE(sealed, box.seal(Secret("hush"), "me"));
  EXPECT_FALSE(box.unseal(sealed, "you"));
  EXPECT_FALSE(box.unseal("", "me"));
  EXPECT_FALSE(box.unseal("!", "me"));
  std::string spoilt = sealed;
  spoilt[spoilt.size() / 2] = spoilt[spoilt.size() / 2] == 'A' ? 'B' : 'A';
  EXPECT_FALSE(box.unseal(spoilt, "me"));
  EXPECT_FALSE(SecretBox::open(folder / "other").value().unseal(sealed, "me"));
  // The same key, read from its file.
  EXPECT_EQ(SecretBox::open(folder / "key").value().unseal(sealed, "me").value().reveal(), "hush");
}

class ClientStoreTest : public ::testing::Test {
 protected:
  ClientStoreTest() { restart(); }
  ~ClientStoreTest() override { committer->stop(1s); }

  // As after a restart of the host: only the store and the key file are left.
  void restart(const char* key = "key") {
    book.reset();
    if (committer) committer->stop(1s);
    authority = std::make_unique<Authority>(clock);
    committer = std::make_unique<store::Committer>(store, clock, Log());
    ClientStore::Parts parts;
    parts.authority = authority.get();
    parts.committer = committer.get();
    parts.clock = &clock;
    parts.commit = [this](store::Batch rows, const std::vector<events::Event>& events,
                          const ClientStore::Parts::Done& done) {
      committer->submit(std::move(rows), [this, events, done] {
        const std::lock_guard guard(told_mutex);
        for (const events::Event& event : events) told.push_back(event.kind + " " + event.text);
        done({});
      });
    };
    book = ClientStore::open(store, SecretBox::open(folder / key).value(), parts).value();
  }
  std::string let_in(const std::string& id, const Secret& key) const {
    Signing how{id, key.reveal()};
    how.ts = seconds_of(clock);
    const auto caller = authority->authenticate(signed_request(how));
    return caller ? (*caller)->client_id : caller.error().message;
  }
  bool token_let_in(const Secret& token) const {
    return authority->authenticate(with_header("Bearer " + token.reveal())).has_value();
  }

  testing::TemporaryFolder folder;
  FakeClock clock;
  store::MemoryStore store;
  std::unique_ptr<store::Committer> committer;
  std::unique_ptr<Authority> authority;
  std::unique_ptr<ClientStore> book;
  std::mutex told_mutex;
  std::vector<std::string> told;
  const Caller admin{"admin", ScopeSet({"*"})};
  const Caller small{"small", ScopeSet({"a:*", "assume:anonymous", "muster:manage-clients:*"})};
};

TEST_F(ClientStoreTest, refuses_names_and_scopes_that_are_none) {
  for (const char* bad : {"", "a b", "ä", "admin", "muster/host", "muster/x"})
    EXPECT_EQ(book->create(bad, {}, admin).error().error_class, ErrorClass::invalid) << bad;
  ClientStore::Wanted wanted;
  wanted.scopes = {"a\n"};
  EXPECT_EQ(book->create("x", wanted, admin).error().error_class, ErrorClass::invalid);
  EXPECT_EQ(book->find("x").error().error_class, ErrorClass::not_found);
  EXPECT_EQ(book->remove("x", admin).error().error_class, ErrorClass::not_found);
  EXPECT_EQ(book->rotate("muster/host", 1h, admin).error().error_class, ErrorClass::invalid);
}

TEST_F(ClientStoreTest, nobody_gives_what_he_does_not_have) {
  ClientStore::Wanted wanted;
  wanted.scopes = {"a:1", "b"};
  const auto refused = book->create("x", wanted, small);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_class, ErrorClass::auth);
  EXPECT_THAT(refused.error().message, HasSubstr("missing the following scopes:\n\n```\nb\n```"));
  ASSERT_TRUE(book->create("x", wanted, admin));
  // Nor takes it by way of a secret.
  EXPECT_EQ(book->rotate("x", 1h, small).error().error_class, ErrorClass::auth);
  EXPECT_EQ(book->change("x", wanted, small).error().error_class, ErrorClass::auth);
  wanted.scopes = {"a:1"};
  ASSERT_TRUE(book->change("x", wanted, admin));
  EXPECT_TRUE(book->change("x", wanted, small));
  EXPECT_TRUE(book->rotate("x", 1h, small));
}

TEST_F(ClientStoreTest, nobody_touches_a_client_that_may_do_more) {
  ClientStore::Wanted strong, weak;
  strong.scopes = {"a:1", "b"};
  ASSERT_TRUE(book->create("x", strong, admin));
  // Emptied first, it could be rotated, and used when its scopes are given back.
  EXPECT_EQ(book->change("x", weak, small).error().error_class, ErrorClass::auth);
  EXPECT_EQ(book->set_disabled("x", true, small).error().error_class, ErrorClass::auth);
  EXPECT_EQ(book->remove("x", small).error().error_class, ErrorClass::auth);
  EXPECT_EQ(book->find("x")->scopes.size(), 2u);
  EXPECT_FALSE(book->find("x")->disabled);
  ASSERT_TRUE(book->set_disabled("x", true, admin));
  EXPECT_EQ(book->set_disabled("x", false, small).error().error_class, ErrorClass::auth);
  EXPECT_TRUE(book->remove("x", admin));
}

TEST_F(ClientStoreTest, roles_are_counted_among_what_is_given) {
  authority->configure({}, Roles::make({{"a:1", {"secret"}}}).value(), {});
  ClientStore::Wanted wanted;
  wanted.scopes = {"assume:a:1"};
  const Caller by{"by", ScopeSet({"assume:a:1", "assume:anonymous"})};
  EXPECT_EQ(book->create("x", wanted, by).error().error_class, ErrorClass::auth);
}

TEST_F(ClientStoreTest, clients_and_tokens_outlive_a_restart_and_their_secrets_are_in_no_row) {
  ClientStore::Wanted wanted;
  wanted.scopes = {"a"};
  const auto signer = book->create("ci/signer", wanted, admin).value();
  wanted.kind = ClientKind::token;
  const auto token = book->create("ci/token", wanted, admin).value();
  EXPECT_EQ(book->create("ci/token", wanted, admin).error().code, "RequestConflict");
  for (const ClientRow& row : book->list()) {
    EXPECT_EQ(row.secret.find(signer.secret.reveal()), std::string::npos);
    EXPECT_EQ(row.secret.find(token.secret.reveal()), std::string::npos);
  }
  const auto issued = authority->issue("worker/w", {}, clock.now(), clock.now() + 1h);
  for (int round = 0; round < 2; ++round, restart()) {
    EXPECT_EQ(let_in("ci/signer", signer.secret), "ci/signer");
    EXPECT_TRUE(token_let_in(token.secret));
    Signing worker{issued.client_id, issued.access_token};
    worker.ext = hawk::base64("{\"certificate\":" + issued.certificate + "}");
    worker.ts = seconds_of(clock);
    EXPECT_TRUE(authority->authenticate(signed_request(worker)));
  }
}

TEST_F(ClientStoreTest, a_lost_key_keeps_clients_out_until_they_are_rotated) {
  const auto made = book->create("ci", {}, admin).value();
  restart("another-key");
  EXPECT_EQ(let_in("ci", made.secret), "Client with clientId 'ci' not found");
  const auto rotated = book->rotate("ci", 0h, admin).value();
  EXPECT_EQ(let_in("ci", rotated.secret), "ci");
  EXPECT_NE(authority->issue("worker/w", {}, clock.now(), clock.now()).access_token, "");
}

TEST_F(ClientStoreTest, a_rotated_secret_counts_for_its_time) {
  const auto first = book->create("ci", {}, admin).value();
  const auto second = book->rotate("ci", 1h, admin).value();
  EXPECT_EQ(let_in("ci", first.secret), "ci");
  EXPECT_EQ(let_in("ci", second.secret), "ci");
  clock.advance(1h);
  EXPECT_EQ(let_in("ci", first.secret), "Unauthorized: Bad mac");
  EXPECT_EQ(let_in("ci", second.secret), "ci");
  const auto third = book->rotate("ci", 0h, admin).value();
  EXPECT_EQ(let_in("ci", second.secret), "Unauthorized: Bad mac");
  EXPECT_EQ(let_in("ci", third.secret), "ci");
}

TEST_F(ClientStoreTest, what_is_taken_away_is_gone_at_once_and_told) {
  ClientStore::Wanted wanted;
  wanted.expires = clock.now() + 1h;
  const auto made = book->create("ci", wanted, admin).value();
  ASSERT_TRUE(book->set_disabled("ci", true, admin));
  EXPECT_EQ(let_in("ci", made.secret), "Client with clientId 'ci' is disabled");
  ASSERT_TRUE(book->set_disabled("ci", false, admin));
  EXPECT_EQ(let_in("ci", made.secret), "ci");
  ASSERT_TRUE(book->remove("ci", admin));
  EXPECT_EQ(let_in("ci", made.secret), "Client with clientId 'ci' not found");
  const std::lock_guard guard(told_mutex);
  EXPECT_THAT(told, ElementsAre("client-created client ci was created by admin",
                                "client-changed client ci was changed by admin",
                                "client-changed client ci was changed by admin",
                                "client-removed client ci was removed by admin"));
}

TEST_F(ClientStoreTest, clients_of_the_configuration_are_changed_there) {
  authority->configure({hawk_client("static", "key")}, {}, {});
  EXPECT_EQ(book->create("static", {}, admin).error().code, "RequestConflict");
  EXPECT_THAT(book->remove("static", admin).error().message,
              HasSubstr("in the host's configuration"));
}

}  // namespace
}  // namespace muster::auth
