// Documentation in the store.
#include "host/documentation/library.hpp"

#include <gtest/gtest.h>

#include "host/store/memory_store.hpp"
#include "host/store/row.hpp"
#include "lib/crypto/sha256.hpp"
#include "tests/unit/host/documentation/tar_builder.hpp"

namespace muster::documentation::testing {
namespace {

const Subject pool{Kind::pool, "worker-manager/build"};
const Subject configuration{Kind::worker_configuration, "builds"};

struct Fixture {
  store::MemoryStore store;
  std::vector<events::Event> audit;
  LibraryLimits limits = {};
  std::optional<Error> failure = {};
  Library library{{.store = &store,
                   .commit = [this](store::Batch rows, events::Event event) -> Result<void> {
                     if (failure) return *failure;
                     audit.push_back(std::move(event));
                     return store.commit(rows);
                   }},
                  limits};

  Result<DocumentationRow> put(const Subject& subject, const std::string& tarball,
                               const Condition& condition = {}) {
    return library.put(subject, tarball, condition, "ci", Time{}, {});
  }
};

std::string some(const std::string& text) {
  return tarball(file("README.md", text));
}

TEST(Library, gives_back_what_was_put_piece_by_piece) {
  Fixture host;
  std::string noise(1 << 20, '\0');  // several pieces, for it cannot be compressed
  std::uint32_t seed = 1;
  for (char& c : noise) c = static_cast<char>((seed = seed * 1664525 + 1013904223) >> 24);
  const std::string bytes = tarball(file("docs/noise", noise));
  const auto put = host.put(pool, bytes);
  ASSERT_TRUE(put) << put.error().message;
  EXPECT_EQ(put->digest, sha256_hex(bytes));
  EXPECT_EQ(put->files, 2);
  EXPECT_EQ(put->project, "builders");
  const auto found = host.library.tarball(pool);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->bytes, bytes);
  EXPECT_EQ(found->row.digest, put->digest);
  EXPECT_EQ(host.audit.back().details.at("digest").as_string(), put->digest);
}

TEST(Library, replaces_all_pieces_with_a_smaller_tarball) {
  Fixture host;
  ASSERT_TRUE(host.put(pool, some(std::string(60 << 10, 'x'))));
  ASSERT_TRUE(host.put(pool, some("small")));
  EXPECT_EQ(host.library.tarball(pool)->bytes, some("small"));
  ASSERT_TRUE(host.library.remove(pool, {}, {}));
  int left = 0;
  ASSERT_TRUE(store::read_rows<DocumentationPieceRow>(host.store, [&](const auto&) { ++left; }));
  EXPECT_EQ(left, 0);
}

TEST(Library, tells_the_kinds_of_subjects_apart) {
  Fixture host;
  const Subject same_name{Kind::worker_configuration, pool.name};
  ASSERT_TRUE(host.put(pool, some("pool")));
  EXPECT_EQ(host.library.find(same_name).error().error_class, ErrorClass::not_found);
  ASSERT_TRUE(host.put(same_name, some("configuration")));
  ASSERT_TRUE(host.library.remove(pool, {}, {}));
  EXPECT_TRUE(host.library.find(same_name));
}

TEST(Library, changes_only_under_the_condition) {
  Fixture host;
  const auto refused = [](const auto& outcome) {
    return !outcome && outcome.error().code == "PreconditionFailed";
  };
  EXPECT_TRUE(refused(host.put(pool, some("a"), {.if_match = "*"})));
  const auto first = host.put(pool, some("a"), {.if_none_match = "*"});
  ASSERT_TRUE(first);
  const std::string tag = "\"" + first->digest + "\"";
  EXPECT_TRUE(refused(host.put(pool, some("b"), {.if_none_match = "*"})));
  EXPECT_TRUE(refused(host.put(pool, some("b"), {.if_match = "\"other\""})));
  EXPECT_TRUE(refused(host.library.remove(pool, {.if_match = "\"other\""}, {})));
  EXPECT_TRUE(host.put(pool, some("b"), {.if_match = "\"x\", W/" + tag}));
  EXPECT_TRUE(refused(host.put(pool, some("c"), {.if_match = tag})));
  EXPECT_TRUE(host.library.remove(pool, {.if_match = "*"}, {}));
}

TEST(Library, keeps_what_was_there_if_the_new_one_is_bad_or_the_store_fails) {
  Fixture host;
  ASSERT_TRUE(host.put(pool, some("good")));
  EXPECT_FALSE(host.put(pool, "bad"));
  host.failure = Error::transient("the disk is full");
  EXPECT_EQ(host.put(pool, some("other")).error().message, "the disk is full");
  EXPECT_EQ(host.library.tarball(pool)->bytes, some("good"));
  EXPECT_EQ(host.audit.size(), 1U);
}

TEST(Library, says_that_a_piece_was_lost) {
  Fixture host;
  ASSERT_TRUE(host.put(pool, some("good")));
  ASSERT_TRUE(host.store.commit({store::erase<DocumentationPieceRow>({std::string("pool")})}));
  EXPECT_EQ(host.library.tarball(pool).error().error_class, ErrorClass::internal);
  EXPECT_EQ(host.library.html(pool).error().error_class, ErrorClass::internal);
}

TEST(Library, has_room_for_so_many) {
  Fixture host;
  LibraryLimits limits;
  limits.tarballs = 1;
  Library small({.store = &host.store,
                 .commit = [&](const store::Batch& rows,
                               const events::Event&) { return host.store.commit(rows); }},
                limits);
  ASSERT_TRUE(small.put(pool, some("a"), {}, "ci", Time{}, {}));
  ASSERT_TRUE(small.put(pool, some("b"), {}, "ci", Time{}, {}));
  const auto refused = small.put(configuration, some("a"), {}, "ci", Time{}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_class, ErrorClass::throttle);
}

TEST(Library, shows_both_documents_of_a_pool_with_a_tag_for_each_version) {
  Fixture host;
  EXPECT_EQ(host.library.markdown(pool, "builds").error().error_class, ErrorClass::not_found);
  ASSERT_TRUE(host.put(configuration, some("general")));
  const auto general = host.library.html(pool, "builds", "../");
  ASSERT_TRUE(general) << general.error().message;
  ASSERT_TRUE(host.put(pool, some("own")));
  const auto both = host.library.html(pool, "builds", "../");
  ASSERT_TRUE(both);
  EXPECT_NE(both->tag, general->tag);
  EXPECT_LT(both->text.find("own"), both->text.find("general"));
  EXPECT_EQ(host.library.html(pool, "builds", "../")->text, both->text);
  EXPECT_EQ(host.library.markdown(pool, "builds")->text,
            "own\n\n# General Worker Configuration Documentation\n\ngeneral");
}

}  // namespace
}  // namespace muster::documentation::testing
