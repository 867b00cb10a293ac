// Documentation from a folder to the reader, with a real host.
#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>

#include "tests/integration/command_host.hpp"

namespace muster::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Documentation : public CommandsOfAHost {
 protected:
  Documentation() {
    write("own",
          "# Build\n\n<script>alert(1)</script>\n\n[use](docs/use.md) [bad](javascript:x)\n");
    write("general", "# All builders\n");
    for (int i = 0; i < 300 && document({"pools"}).at("pools").as_array().empty(); ++i) continue;
  }

  // As taskcluster-lib-docs has it.
  void write(const std::string& name, const std::string& readme) {
    const auto place = folder / name;
    std::filesystem::create_directories(place / "docs");
    std::ofstream(place / "metadata.json")
        << R"({"version": 1, "project": "builders", "tier": "workers", "menuIndex": 10})";
    std::ofstream(place / "README.md") << readme;
    std::ofstream(place / "docs/use.md")
        << "---\ntitle: Use\norder: 1\n---\n\nUse " << name << "\n";
    std::ofstream(place / "docs/page.html") << "<script>alert(1)</script>";
  }
  std::string at(const std::string& name) { return (folder / name).string(); }

  // The head and the body of an answer.
  std::string curl(const std::string& path, const std::string& more = "",
                   const std::string& token = {}) {
    const std::string command = "curl -s -i -H 'Authorization: Bearer " +
                                (token.empty() ? host->address().token : token) + "' " + more +
                                " '" + host->address().url + "/api/muster/v1" + path + "'";
    FILE* pipe = ::popen(command.c_str(), "r");
    std::string out;
    char piece[4096];
    for (std::size_t got = 0; (got = std::fread(piece, 1, sizeof piece, pipe)) > 0;)
      out.append(piece, got);
    ::pclose(pipe);
    return out;
  }

  const std::string path = "/pools/worker-manager%2Fbuild/documentation";
};

TEST_F(Documentation, goes_from_a_folder_to_its_readers) {
  const json::object pushed = document({"docs", "push", "build", at("own")});
  EXPECT_EQ(pushed.at("files"), 4);
  EXPECT_EQ(document({"docs", "push", "build", at("own")}).at("digest"), pushed.at("digest"));
  said({"docs", "push", "--configuration", "build", at("general")});
  const std::string both = said({"docs", "show", "build"});
  EXPECT_THAT(both, HasSubstr("# Build\n"));
  EXPECT_THAT(both, HasSubstr("# General Worker Configuration Documentation\n\n# All builders\n"));
  EXPECT_THAT(said({"docs", "show", "--configuration", "build"}), Not(HasSubstr("# Build\n")));
  EXPECT_THAT(said({"docs", "show", "build", "--file", "docs/use.md"}), HasSubstr("Use own"));
  EXPECT_THAT(said({"docs", "list", "build"}), HasSubstr("docs/page.html"));
  EXPECT_EQ(document({"docs", "list"}).at("documentation").as_array().size(), 2U);
  EXPECT_THAT(said({"docs", "list", "--orphans"}), HasSubstr("No documentation."));
  said({"docs", "pull", "build", at("copy.tar.gz")});
  EXPECT_EQ(document({"docs", "push", "build", at("copy.tar.gz")}).at("digest"),
            pushed.at("digest"));

  // A restart loses nothing.
  host->kill();
  host->start();
  log_in();
  EXPECT_EQ(said({"docs", "show", "build"}), both);
  said({"docs", "delete", "build", "--yes"});
  EXPECT_THAT(said({"docs", "show", "build"}), Not(HasSubstr("# Build\n")));
  said({"docs", "delete", "--configuration", "build", "--yes"});
  EXPECT_THAT(said({"docs", "show", "build"}, 1), HasSubstr("has no documentation"));
}

TEST_F(Documentation, is_refused_with_what_to_do) {
  EXPECT_THAT(said({"docs", "push", "nosuch", at("own")}, 1), HasSubstr("there is no worker pool"));
  EXPECT_THAT(said({"docs", "push", "--configuration", "nosuch", at("own")}, 1),
              HasSubstr("there is no worker configuration"));
  std::filesystem::remove(folder / "own/metadata.json");
  EXPECT_THAT(said({"docs", "push", "build", at("own")}, 1), HasSubstr("metadata.json"));
  std::ofstream(folder / "bad.tar.gz") << "bad";
  EXPECT_THAT(said({"docs", "push", "build", at("bad.tar.gz")}, 1), HasSubstr("no sound gzip"));
  std::filesystem::create_symlink("/etc/passwd", folder / "general/docs/link.md");
  EXPECT_THAT(said({"docs", "push", "build", at("general")}, 1), HasSubstr("is a link"));
}

TEST_F(Documentation, is_served_by_version_and_so_that_nothing_runs) {
  const std::string digest(document({"docs", "push", "build", at("own")}).at("digest").as_string());
  EXPECT_THAT(curl(path), HasSubstr("ETag: \"" + digest + "\""));
  EXPECT_THAT(curl(path, "-H 'If-None-Match: \"" + digest + "\"'"), HasSubstr("304 Not Modified"));
  said({"docs", "pull", "build", at("copy.tar.gz")});
  const std::string body = "-T " + at("copy.tar.gz") + " ";
  EXPECT_THAT(curl(path, body + "-H 'If-Match: \"other\"'"), HasSubstr("412 Precondition Failed"));
  EXPECT_THAT(curl(path, body + "-H 'If-None-Match: *'"), HasSubstr("412 Precondition Failed"));
  EXPECT_THAT(curl(path, body + "-H 'If-Match: \"" + digest + "\"'"), HasSubstr("200 OK"));
  EXPECT_THAT(curl(path, "-X DELETE -H 'If-Match: \"other\"'"), HasSubstr("412 "));
  std::ofstream(folder / "large") << std::string(5 << 20, 'x');
  EXPECT_THAT(curl(path, "-T " + at("large")), HasSubstr("413 "));

  const std::string html = curl(path + "/html");
  EXPECT_THAT(html, HasSubstr("href=\"#docs-own-docs-use-md\""));
  EXPECT_THAT(html, HasSubstr("sandbox"));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, Not(HasSubstr("javascript:")));
  const std::string page = curl(path + "/files/docs/page.html");
  EXPECT_THAT(page, HasSubstr("Content-Type: application/octet-stream"));
  EXPECT_THAT(page, HasSubstr("Content-Disposition: attachment"));
  EXPECT_THAT(page, HasSubstr("X-Content-Type-Options: nosniff"));
  EXPECT_THAT(page, HasSubstr("sandbox"));
  EXPECT_THAT(curl(path + "/files/docs/none"), HasSubstr("404 "));
  EXPECT_THAT(curl(path + "/files/..%2fREADME.md"), HasSubstr("404 "));

  const std::string reader(document({"client", "create", "reader", "--kind", "token", "--scope",
                                     "muster:get:pool-documentation:worker-manager/build"})
                               .at("token")
                               .as_string());
  EXPECT_THAT(curl(path, "", reader), HasSubstr("200 OK"));
  EXPECT_THAT(curl(path, body, reader), HasSubstr("403 "));
  EXPECT_THAT(curl("/pools/worker-manager%2Fother/documentation", "", reader), HasSubstr("403 "));
  EXPECT_THAT(said({"events", "--kind", "audit"}), HasSubstr("putPoolDocumentation"));
}

}  // namespace
}  // namespace muster::testing
