// Damaged files: an error with a sentence, whatever bytes are wrong; never a crash, never a hang.
#include <fstream>
#include <random>

#include "tests/unit/host/store/test_tables.hpp"

namespace muster::store::testing {
namespace {

namespace fs = std::filesystem;
using muster::testing::TemporaryFolder;

class DamageTest : public ::testing::Test {
 protected:
  DamageTest() {
    const auto store = open_store(file);
    Batch batch;
    for (std::int64_t i = 0; i < 500; ++i) {
      batch.emplace_back(thing(i, std::string(200, 'x')));
      batch.emplace_back(part("owner" + std::to_string(i % 7), i, std::string(100, 'y')));
    }
    EXPECT_TRUE(store->commit(batch));
    EXPECT_TRUE(store->backup(sound));
  }
  // The sound database, with `change` made to its bytes.
  template <class Change>
  void damage(Change change) {
    std::string bytes;
    {
      std::ifstream in(sound, std::ios::binary);
      bytes.assign(std::istreambuf_iterator<char>(in), {});
    }
    change(bytes);
    for (const char* suffix : {"-wal", "-shm"}) fs::remove(file.string() + suffix);
    std::ofstream(file, std::ios::binary) << bytes;
  }
  // Opens, reads and writes it; all may fail, with a sentence.
  int use() {
    int errors = 0;
    const auto note = [&](const Error& error) {
      ++errors;
      EXPECT_FALSE(error.message.empty());
      EXPECT_TRUE(error.error_class == ErrorClass::internal ||
                  error.error_class == ErrorClass::config)
          << error.message;
    };
    auto opened = SqliteStore::open(file, test_settings());
    if (!opened) return note(opened.error()), errors;
    Store& store = **opened;
    for (const Table* table : {&things, &parts})
      for (const bool backwards : {false, true}) {
        const auto read =
            store.scan({.table = table, .backwards = backwards}, [](auto) { return true; });
        if (!read) note(read.error());
      }
    Batch batch;
    for (std::int64_t i = 0; i < 500; i += 3) {
      batch.emplace_back(thing(i, std::string(900, 'z')));
      batch.emplace_back(Erase{&parts, {"owner" + std::to_string(i % 7), i}});
    }
    if (const auto written = store.commit(batch); !written) note(written.error());
    if (const auto copied = store.backup(folder / "copy"); !copied) note(copied.error());
    fs::remove(folder / "copy");
    return errors;
  }

  TemporaryFolder folder;
  fs::path file = folder / "a.db";
  fs::path sound = folder / "sound.db";
};

TEST_F(DamageTest, a_sound_file_has_no_errors) {
  damage([](std::string&) {});
  EXPECT_EQ(use(), 0);
}

TEST_F(DamageTest, a_file_that_was_cut_off_is_an_error) {
  const auto size = fs::file_size(sound);
  for (const std::size_t left :
       {std::size_t{1}, std::size_t{50}, std::size_t{99}, std::size_t{100}, std::size_t{4095},
        std::size_t{4096}, size / 2, size - 4096, size - 1}) {
    damage([&](std::string& bytes) { bytes.resize(left); });
    EXPECT_GT(use(), 0) << left << " bytes left of " << size;
  }
}

TEST_F(DamageTest, damaged_pages_are_an_error) {
  std::mt19937 random(7);
  for (std::size_t page = 0; page < fs::file_size(sound) / 4096; page += 3) {
    damage([&](std::string& bytes) {
      for (std::size_t i = page == 0 ? 100 : 0; i < 4096; ++i)
        bytes[page * 4096 + i] = static_cast<char>(random());
    });
    EXPECT_GT(use(), 0) << "page " << page;
  }
}

TEST_F(DamageTest, single_damaged_bytes_never_end_the_process) {
  std::mt19937 random(8);
  for (int round = 0; round < 60; ++round) {
    damage([&](std::string& bytes) {
      for (int i = 0; i < 20; ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
      // Every second time in the headers of pages, where it hurts most.
      if (round % 2 == 0)
        for (int i = 0; i < 4; ++i)
          bytes[random() % (bytes.size() / 4096) * 4096 + random() % 110] =
              static_cast<char>(random());
    });
    use();  // a byte of a text is no damage that anybody could see
  }
}

TEST_F(DamageTest, a_log_of_nonsense_is_ignored_and_the_commits_before_it_are_there) {
  damage([](std::string&) {});
  std::mt19937 random(9);
  std::string nonsense(40'000, '\0');
  for (char& byte : nonsense) byte = static_cast<char>(random());
  std::ofstream(file.string() + "-wal", std::ios::binary) << nonsense;
  EXPECT_EQ(numbers_of(*open_store(file), {&things}).size(), 500U);
}

}  // namespace
}  // namespace muster::store::testing
