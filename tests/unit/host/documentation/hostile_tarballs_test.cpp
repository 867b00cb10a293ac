// Tarballs that somebody sends to do harm: each is refused, with a sentence that says why.
#include <functional>

#include <gtest/gtest.h>

#include "host/documentation/hierarchy.hpp"
#include "tests/unit/host/documentation/tar_builder.hpp"

namespace muster::documentation::testing {
namespace {

struct Hostile {
  std::string name;
  std::string bytes;
  std::string words;  // of the error
};

std::string text_file(const std::string& name) {
  return file(name, "# Hello\n");
}

std::string many_files(int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text_file("docs/" + std::to_string(i) + ".txt");
  return all;
}

std::string of_type(char type, std::string link = {}) {
  return tarball(entry({.name = "docs/x.md", .type = type, .link = std::move(link)}));
}

std::string with_metadata(const std::string& text) {
  return gzip(file("metadata.json", text) + tar_end());
}

std::string sparse_map_bomb() {
  std::string map = "5000000\n";
  for (int i = 0; i < 200'000; ++i) map += "0\n0\n";
  return tarball(pax("GNU.sparse.major", "1") + file("docs/x.md", map));
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

// Paths that no document has.
std::vector<Hostile> hostile_paths() {
  const auto path = [](std::string name, const std::string& path, std::string words) {
    return Hostile{std::move(name), tarball(text_file(path)), std::move(words)};
  };
  return {
      path("absolute", "/etc/passwd", "is absolute"),
      path("absolute with two slashes", "//etc/passwd", "is absolute"),
      path("climbing", "../x.md", "has the part `..`"),
      path("climbing inside", "docs/../../x.md", "has the part `..`"),
      path("climbing at the end", "docs/..", "has the part `..`"),
      path("a dot inside", "docs/./x.md", "has the part `.`"),
      path("an empty part", "docs//x.md", "has an empty part"),
      path("a backslash", "docs\\..\\x.md", "has a backslash"),
      path("a drive", "C:/x.md", "has a backslash or a colon"),
      path("an alternate stream", "docs/x.md:hidden", "has a backslash or a colon"),
      path("a control character", "docs/x\x1b[31m.md", "has control characters"),
      path("a new line", "docs/x\ny.md", "has control characters"),
      path("no UTF-8", "docs/\xff\xfe.md", "is not UTF-8"),
      path("an overlong form", "docs/\xc0\xaf.md", "is not UTF-8"),
      path("text from right to left", "docs/\u202egnp.md", "invisible characters"),
      path("an invisible character", "docs/a\u200b.md", "invisible characters"),
      path("a blank at the end", "docs/x.md ", "ends with a blank or a dot"),
      path("a dot at the end", "docs/x.", "ends with a blank or a dot"),
      path("a file at the root", "x.md", "move it below docs/"),
      path("an unknown folder", "bin/x", "move it below docs/"),
      path("a known folder in other letters", "Docs/x.md", "move it below docs/"),
      {"deep", tarball(text_file("docs/" + repeated("a/", 20) + "x.md")), "levels deep"},
      {"a long path by pax",
       tarball(pax("path", "docs/" + std::string(300, 'a') + ".md") + text_file("x")),
       "255 is the limit"},
      {"a long path by GNU",
       tarball(gnu_long_name("docs/" + std::string(3000, 'a') + ".md") + text_file("x")),
       "255 is the limit"},
      {"climbing by pax", tarball(pax("path", "../x.md") + text_file("docs/x.md")),
       "has the part `..`"},
      {"absolute by GNU", tarball(gnu_long_name("/etc/passwd") + text_file("docs/x.md")),
       "is absolute"},
      {"an absolute prefix", tarball(entry({.name = "passwd", .content = "x", .prefix = "/etc"})),
       "is absolute"},
      {"no name", tarball(text_file("")), ""},
  };
}

// Entries that are no files, and files that are there twice.
std::vector<Hostile> hostile_entries() {
  return {
      {"a symbolic link", of_type('2', "/etc/shadow"), "is a link"},
      {"a hard link", of_type('1', "metadata.json"), "is a link"},
      {"a link by pax",
       tarball(pax("linkpath", "/etc/shadow") + entry({.name = "docs/x.md", .type = '2'})),
       "is a link"},
      {"a character device", of_type('3'), "neither a file nor a folder"},
      {"a block device", of_type('4'), "neither a file nor a folder"},
      {"a pipe", of_type('6'), "neither a file nor a folder"},
      {"the same file twice", tarball(text_file("docs/x.md") + text_file("docs/x.md")), "twice"},
      {"metadata twice", tarball(file("metadata.json", good_metadata)), "twice"},
      {"the same folder twice", tarball(folder("docs/") + folder("docs/")), "twice"},
      {"letters of another case", tarball(text_file("docs/x.md") + text_file("docs/X.md")),
       "case of its letters"},
      {"a folder of another case", tarball(text_file("docs/a/x.md") + text_file("docs/A/y.md")),
       "case of its letters"},
      {"a file that is a folder", tarball(text_file("docs/a") + text_file("docs/a/x.md")),
       "which is a file"},
      {"a folder that is a file", tarball(text_file("docs/a/x.md") + text_file("docs/a")),
       "is a file and a folder"},
  };
}

// Forms that are no tarball, or more than one.
std::vector<Hostile> hostile_forms() {
  const std::string good = tarball(text_file("docs/x.md"));
  return {
      {"nothing", "", "is empty"},
      {"no gzip", "hello", "no sound gzip"},
      {"a bare tar", file("metadata.json", good_metadata) + tar_end(), "no sound gzip"},
      {"a zip", std::string("PK\x03\x04") + std::string(100, 'x'), "no sound gzip"},
      {"gzip of no tar", gzip("hello"), ""},
      {"gzip of a gzip", gzip(good), ""},
      {"gzip of nothing", gzip(""), ""},
      {"cut off", good.substr(0, good.size() / 2), "cut off"},
      {"cut off in its last bytes", good.substr(0, good.size() - 4), "cut off"},
      {"bytes behind it", good + "more", "behind the end of its gzip stream"},
      {"two streams", good + good, "behind the end of its gzip stream"},
      {"a wrong checksum of gzip",
       good.substr(0, good.size() - 8) + std::string(4, 'x') + good.substr(good.size() - 4),
       "no sound gzip"},
      {"a wrong checksum of tar",
       tarball(entry({.name = "docs/x.md", .content = "x", .wrong_checksum = true})), ""},
      {"content behind the end",
       gzip(file("metadata.json", good_metadata) + tar_end() + std::string(1024, 'x')),
       "content behind its end"},
      {"a file that ends too early",
       gzip(file("metadata.json", good_metadata) +
            entry({.name = "docs/x.md", .size = "00000100000"})),
       ""},
  };
}

// What would take memory or time.
std::vector<Hostile> hostile_sizes() {
  std::string noise(5 << 20, '\0');
  std::uint32_t seed = 1;
  for (char& c : noise) c = static_cast<char>((seed = seed * 1664525 + 1013904223) >> 24);
  return {
      {"many bytes compressed", tarball(file("docs/noise", noise)), "is the limit"},
      {"a bomb", tarball(file("docs/zeros", std::string(64 << 20, '\0'))), "16384 KiB"},
      {"a bomb of a bomb", gzip(gzip(std::string(64 << 20, '\0')) + std::string(64 << 20, '\0')),
       ""},
      {"a bomb of padding",
       gzip(file("metadata.json", good_metadata) + std::string(64 << 20, '\0')), "is the limit"},
      {"many entries", tarball(many_files(2500)), "entries"},
      {"a huge claim", tarball(entry({.name = "docs/x.md", .size = "77777777777"})), ""},
      {"a claim beyond 64 bits",
       tarball(entry({.name = "docs/x.md", .size = "\x80" + std::string(11, '\xff')})), ""},
      {"a negative claim",
       tarball(entry({.name = "docs/x.md", .size = "\xff" + std::string(11, '\xff')})), ""},
      {"a long header by pax",
       tarball(pax("comment", std::string(900'000, 'x')) + text_file("docs/x.md")), "header"},
      {"a long header by GNU",
       tarball(gnu_long_name(std::string(900'000, 'x')) + text_file("docs/x.md")), "header"},
      {"headers without end", tarball(repeated(pax("comment", "x"), 5000)), ""},
      {"a sparse file of terabytes",
       tarball(pax("GNU.sparse.realsize", "1000000000000") + pax("GNU.sparse.major", "1") +
               file("docs/x.md", "1\n0\n1\n")),
       ""},
      {"a map of a sparse file", sparse_map_bomb(), "header"},
      {"much Markdown", tarball(file("docs/x.md", std::string(300 << 10, 'x'))), "split it"},
  };
}

// Right tarballs with the wrong files.
std::vector<Hostile> hostile_hierarchies() {
  const std::string deep = repeated("[", 10'000) + repeated("]", 10'000);
  return {
      {"no metadata", gzip(text_file("README.md") + tar_end()), "the tarball lacks it"},
      {"no files", gzip(tar_end() + tar_end()), ""},
      {"a leading folder", gzip(file("project/metadata.json", good_metadata) + tar_end()),
       "without a leading folder"},
      {"metadata that is no JSON", with_metadata("{"), "metadata.json"},
      {"metadata that is no object", with_metadata("[]"), "metadata.json"},
      {"metadata of another version",
       with_metadata(R"({"version": 2, "project": "a", "tier": "core", "menuIndex": 1})"),
       "`version` must be 1"},
      {"metadata without a project",
       with_metadata(R"({"version": 1, "tier": "core", "menuIndex": 1})"), "`project`"},
      {"metadata of an unknown tier",
       with_metadata(R"({"version": 1, "project": "a", "tier": "x", "menuIndex": 1})"), "`tier`"},
      {"metadata without an index",
       with_metadata(R"({"version": 1, "project": "a", "tier": "core", "menuIndex": "1"})"),
       "`menuIndex`"},
      {"metadata with a key twice",
       with_metadata(
           R"({"version": 1, "version": 1, "project": "a", "tier": "core", "menuIndex": 1})"),
       "metadata.json"},
      {"metadata that is deep", with_metadata("{\"a\": " + deep + "}"), "metadata.json"},
      {"a schema that is no JSON", tarball(file("schemas/v1/a.json", "{")), "not JSON"},
      {"a reference that is deep", tarball(file("references/api.json", deep)), "not JSON"},
      {"a program among the schemas", tarball(file("schemas/v1/a.sh", "x")), "only .json"},
      {"Markdown that is no UTF-8", tarball(file("README.md", "\xff")), "must be UTF-8"},
  };
}

TEST(HostileTarballs, are_refused_with_a_reason) {
  std::size_t kinds = 0;
  for (const auto& some :
       {hostile_paths, hostile_entries, hostile_forms, hostile_sizes, hostile_hierarchies})
    for (const Hostile& each : some()) {
      const auto outcome = read_tarball(each.bytes);
      ASSERT_FALSE(outcome) << each.name;
      EXPECT_EQ(outcome.error().error_class, ErrorClass::invalid) << each.name;
      EXPECT_NE(outcome.error().message.find(each.words), std::string::npos)
          << each.name << ": " << outcome.error().message;
      ++kinds;
    }
  EXPECT_GE(kinds, 50U);
}

// The first half of a good tarball, however cut, is never taken for the whole.
TEST(HostileTarballs, are_refused_wherever_they_are_cut_off) {
  const std::string good = tarball(text_file("docs/x.md"));
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(read_tarball(std::string_view(good).substr(0, length))) << length;
}

// Each byte of the tar changed: whatever is taken, it is a file at its place.
TEST(HostileTarballs, with_a_changed_byte_never_lead_out_of_the_hierarchy) {
  const std::string tar = file("metadata.json", good_metadata) + text_file("docs/x.md") + tar_end();
  for (std::size_t at = 0; at < tar.size(); ++at) {
    std::string changed = tar;
    changed[at] = static_cast<char>(changed[at] ^ 0x2e);
    const auto outcome = read_tarball(gzip(changed));
    if (!outcome) continue;
    for (const auto& [path, content] : outcome->files)
      EXPECT_TRUE(path == "metadata.json" || path.starts_with("docs/")) << at << ": " << path;
  }
}

}  // namespace
}  // namespace muster::documentation::testing
