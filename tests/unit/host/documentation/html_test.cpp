// What readers see of documents, friendly and hostile ones.
#include "host/documentation/html.hpp"

#include <gtest/gtest.h>

#include "tests/unit/host/documentation/tar_builder.hpp"

namespace muster::documentation::testing {
namespace {

Hierarchy hierarchy(Files files) {
  return {{"builders", "workers", 1}, std::move(files)};
}

std::string page(const std::string& markdown) {
  const Hierarchy one = hierarchy({{"README.md", markdown}, {"docs/x.png", ""}});
  return rendered_html(&one, nullptr, "");
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(MergedMarkdown, is_the_types_own_then_a_heading_then_the_configurations) {
  const Hierarchy own = hierarchy({{"README.md", "# Build"}, {"docs/use.md", "Use it.\n"}});
  const Hierarchy general = hierarchy({{"README.md", "# All workers\n"}});
  EXPECT_EQ(merged_markdown(&own, &general),
            "# Build\n\nUse it.\n\n# General Worker Configuration Documentation\n\n"
            "# All workers\n");
  EXPECT_EQ(merged_markdown(nullptr, &general),
            "# General Worker Configuration Documentation\n\n# All workers\n");
  EXPECT_EQ(merged_markdown(&own, nullptr), "# Build\n\nUse it.\n");
}

TEST(MergedMarkdown, follows_the_order_of_front_matter_and_shows_its_title) {
  const Hierarchy own = hierarchy({{"docs/a.md", "---\ntitle: \"Last\"\norder: 20\n---\nlast\n"},
                                   {"docs/b.md", "---\ntitle: First\norder: 1\n---\n# Own\n"},
                                   {"docs/c.md", "---\nno end\n"},
                                   {"README.md", "me\n"}});
  EXPECT_EQ(merged_markdown(&own, nullptr), "me\n\n# Own\n\n# Last\n\nlast\n\n---\nno end\n");
}

TEST(Html, shows_as_written_what_it_has_no_time_to_render) {
  const Hierarchy own = hierarchy({{"README.md", "# A <b>\n"}, {"docs/b.md", "# B\n"}});
  const std::string html = rendered_html(&own, nullptr, "", std::chrono::milliseconds(0));
  EXPECT_TRUE(has(html, "<pre># A &lt;b&gt;\n</pre>")) << html;
  EXPECT_TRUE(has(html, "<pre># B\n</pre>")) << html;
  EXPECT_FALSE(has(html, "<h1>")) << html;
}

TEST(Html, has_tables_task_lists_and_code) {
  const std::string html =
      page("# Top\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done\n\n```sh\nls\n```\n~~old~~\n");
  for (const char* part : {"<table>", "<h1>Top</h1>", "type=\"checkbox\"", "<pre><code",
                           "<del>old</del>", "id=\"docs-own-readme-md--top\""})
    EXPECT_TRUE(has(html, part)) << part << "\n" << html;
}

TEST(Html, resolves_links_between_files) {
  const Hierarchy own = hierarchy({{"README.md",
                                    "[a](docs/use.md) [b](docs/use.md#set-up) "
                                    "![p](docs/x%20y.png) [c](./docs/data.csv)"},
                                   {"docs/use.md",
                                    "[up](../README.md) [root](/docs/use.md) "
                                    "[top](#set-up) [out](../../etc/passwd)\n\n"
                                    "## Set up\n"},
                                   {"docs/x y.png", ""},
                                   {"docs/data.csv", ""}});
  const std::string html = rendered_html(&own, nullptr, "");
  for (const char* part :
       {"href=\"#docs-own-docs-use-md\"", "href=\"#docs-own-docs-use-md--set-up\"",
        "src=\"files/docs/x%20y.png\"", "href=\"files/docs/data.csv\"",
        "href=\"#docs-own-readme-md\"", "id=\"docs-own-docs-use-md--set-up\""})
    EXPECT_TRUE(has(html, part)) << part << "\n" << html;
  EXPECT_FALSE(has(html, "passwd\"")) << html;
  EXPECT_TRUE(has(html, "out")) << html;
}

TEST(Html, resolves_links_of_the_configuration_in_its_own_tarball) {
  const Hierarchy own = hierarchy({{"README.md", "[a](docs/a.txt)"}, {"docs/a.txt", ""}});
  const Hierarchy general = own;
  const std::string html = rendered_html(&own, &general, "../general/files/");
  EXPECT_TRUE(has(html, "href=\"files/docs/a.txt\"")) << html;
  EXPECT_TRUE(has(html, "href=\"../general/files/docs/a.txt\"")) << html;
  EXPECT_TRUE(has(html, "<h1>General Worker Configuration Documentation</h1>")) << html;
}

TEST(Html, has_nothing_that_runs_or_loads_from_elsewhere) {
  for (const char* hostile : {
           "<script>alert(1)</script>",
           "<img src=x onerror=alert(1)>",
           "<iframe src=https://evil.example></iframe>",
           "<style>*{display:none}</style>",
           "text <b onclick=alert(1)>x</b>",
           "[x](javascript:alert(1))",
           "[x](JaVaScRiPt:alert(1))",
           "[x](java&#115;cript:alert(1))",
           "[x](\x01javascript:alert(1))",
           "[x](vbscript:x)",
           "[x](data:text/html;base64,PHNjcmlwdD4=)",
           "[x](file:///etc/passwd)",
           "[x](//evil.example/x)",
           "[x](\\\\evil.example\\x)",
           "![x](https://evil.example/x.png)",
           "![x](data:image/svg+xml,<svg/onload=alert(1)>)",
           "<javascript:alert(1)>",
           "[x]: javascript:alert(1)\n\n[x]",
           "<svg><script>alert(1)</script></svg>",
           "<!-- --><script>alert(1)</script>",
           "| a |\n|---|\n| <script>alert(1)</script> |",
           "```\"><script>alert(1)</script>\nx\n```",
           "# \"><script>alert(1)</script>",
           "<a href=\"https://ok.example\" onclick=\"alert(1)\">x</a>",
           "<base href=https://evil.example>",
           "<form action=https://evil.example><input name=token></form>",
           "<meta http-equiv=refresh content=0;url=https://evil.example>",
       }) {
    const std::string html = page(hostile);
    for (const char* part : {"<script",     "<img src=x", "<iframe",
                             "<style",      "<b ",        "href=\"javascript",
                             "href=\"java", "href=\"vb",  "href=\"data",
                             "href=\"file", "href=\"//",  "href=\"\\",
                             "src=\"https", "src=\"data", "<svg",
                             "<base",       "<form",      "<meta",
                             "onclick=\"",  "onerror=a"})
      EXPECT_FALSE(has(html, part)) << hostile << "\n" << html;
  }
}

TEST(Html, keeps_web_addresses) {
  const std::string html = page("[x](https://a.example/?b=1) <mailto:me@a.example> www.b.example");
  EXPECT_TRUE(has(html, "href=\"https://a.example/?b=1\"")) << html;
  EXPECT_TRUE(has(html, "href=\"mailto:me@a.example\"")) << html;
  EXPECT_TRUE(has(html, "href=\"http://www.b.example\"")) << html;
}

// No page can close the section of another one, or open a list in it.
TEST(Html, renders_each_page_on_its_own) {
  const Hierarchy own = hierarchy({{"README.md", "```\nnever closed"}, {"docs/b.md", "# B"}});
  EXPECT_TRUE(has(rendered_html(&own, nullptr, ""), "<h1>B</h1>"));
}

}  // namespace
}  // namespace muster::documentation::testing
