#include "host/wiring/host_id.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/fleet/model/rows.hpp"
#include "host/store/memory_store.hpp"
#include "host/store/row.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster {
namespace {

using ::testing::HasSubstr;

class HostIdTest : public ::testing::Test {
 protected:
  Result<HostId> settle() const { return settle_host_id(file, store, Log()); }
  void store_knows(const std::string& id) {
    ASSERT_TRUE(store.commit({store::put(fleet::HostRow{"hostId", id})}));
  }
  void write(const std::string& text) const { std::ofstream(file) << text; }
  std::string in_file() const {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  testing::TemporaryFolder folder;
  std::filesystem::path file = folder / "host-id";
  store::MemoryStore store;
};

TEST_F(HostIdTest, that_is_nonsense_in_the_file_and_not_in_the_store_is_refused) {
  for (const std::string& bad :
       {std::string(), std::string("\n"), std::string("a b"), std::string(65, 'x'),
        std::string("\xff\0", 2), std::string(5000, 'x'), std::string("a\nb")}) {
    write(bad);
    const auto settled = settle();
    ASSERT_FALSE(settled) << bad;
    EXPECT_EQ(settled.error().error_class, ErrorClass::config);
    EXPECT_THAT(settled.error().message, HasSubstr("muster-host"));
    EXPECT_EQ(in_file(), bad) << "nothing was changed";
  }
}

TEST_F(HostIdTest, that_disagrees_is_refused_and_both_are_named) {
  write("one\n");
  store_knows("two");
  const auto settled = settle();
  ASSERT_FALSE(settled);
  EXPECT_EQ(settled.error().error_class, ErrorClass::config);
  EXPECT_THAT(settled.error().message, HasSubstr("this is host one"));
  EXPECT_THAT(settled.error().message, HasSubstr("write two into the file"));
  EXPECT_EQ(in_file(), "one\n");
}

TEST_F(HostIdTest, that_cannot_be_written_is_no_id) {
  file = folder / "none" / "host-id";
  EXPECT_FALSE(settle());
  store_knows("one");
  EXPECT_EQ(settle().value().id, "one") << "the store has it, too";
}

TEST_F(HostIdTest, of_a_first_start_is_made_and_stays) {
  const auto first = settle();
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->store_lost_it);
  EXPECT_EQ(in_file(), first->id + "\n");
  const auto again = settle();
  EXPECT_EQ(again->id, first->id);
}

TEST_F(HostIdTest, of_an_older_muster_is_only_in_the_store_and_is_copied) {
  store_knows("old-host");
  const auto settled = settle();
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->id, "old-host");
  EXPECT_FALSE(settled->store_lost_it);
  EXPECT_EQ(in_file(), "old-host\n");
}

TEST_F(HostIdTest, outlives_the_loss_of_the_store) {
  write("one\n");
  const auto settled = settle();
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->id, "one");
  EXPECT_TRUE(settled->store_lost_it);
}

TEST_F(HostIdTest, that_is_damaged_in_the_file_is_written_again_from_the_store) {
  write("\xff\xff");
  store_knows("one");
  const auto settled = settle();
  ASSERT_TRUE(settled) << settled.error().message;
  EXPECT_EQ(settled->id, "one");
  EXPECT_EQ(in_file(), "one\n");
}

}  // namespace
}  // namespace muster
