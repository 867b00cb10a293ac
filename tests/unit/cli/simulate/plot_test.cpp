#include "cli/simulate/plot.hpp"

#include <stack>

#include <gmock/gmock.h>

namespace muster::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<simulation::Sample> samples(int count) {
  std::vector<simulation::Sample> all;
  for (int i = 0; i < count; ++i) all.push_back({i * 1min, i % 7, i % 3, i % 11});
  return all;
}

// Whether every element is closed in its order and no stray < or & stands in a text: what a parser
// of XML would insist on, for the little of XML that we write.
std::string malformed(std::string_view xml) {
  std::stack<std::string> open;
  for (std::size_t at = 0; at < xml.size(); ++at) {
    if (xml[at] == '&') {
      const auto name = xml.substr(at + 1, xml.find(';', at) - at - 1);
      if (name != "amp" && name != "lt" && name != "gt" && name != "quot") return "a stray &";
    }
    if (xml[at] != '<') continue;
    const auto end = xml.find('>', at);
    if (end == std::string_view::npos) return "an element is not closed";
    std::string_view tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string_view::npos) return "a stray <";
    at = end;
    if (tag.starts_with('?')) continue;
    if (tag.starts_with('/')) {
      if (open.empty() || open.top() != tag.substr(1)) return "closed in the wrong order";
      open.pop();
    } else if (!tag.ends_with('/')) {
      open.emplace(tag.substr(0, tag.find(' ')));
    }
  }
  return open.empty() ? "" : "not closed: " + open.top();
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(Plot, shows_waits_and_cost_of_each_pool_to_one_scale) {
  const std::string svg =
      plot_svg({{"a", samples(3), {{"p/<one>", 60, 5, "p90 1m 00s", "5.00 EUR"}}},
                {"b", samples(3), {{"p/two", 120, 10, "p90 2m 00s", "10.00 EUR"}}}});
  EXPECT_EQ(malformed(svg), "");
  for (const char* text : {"p/&lt;one&gt;", "p/two", "p90 1m 00s", "10.00 EUR"})
    EXPECT_THAT(svg, HasSubstr(text));
  EXPECT_EQ(count(svg, "width=\"90.0\""), 2u);  // the longest wait and the highest cost
  EXPECT_EQ(count(svg, "width=\"45.0\""), 2u);
  EXPECT_THAT(plot_svg({{"a", {}, {{"free", 0, 0, "", ""}}}}), Not(HasSubstr("nan")));
}

TEST(Plot, no_samples_give_a_plot_all_the_same) {
  EXPECT_EQ(malformed(plot_svg({})), "");
  const std::string svg = plot_svg({{"nothing", {}}});
  EXPECT_EQ(malformed(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

TEST(Plot, titles_cannot_break_out) {
  const std::string svg = plot_svg({{"</text><script>&\"\x01\xFF", samples(3)}});
  EXPECT_EQ(malformed(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, HasSubstr("&lt;/text&gt;&lt;script&gt;&amp;&quot;??"));
}

TEST(Plot, refers_to_nothing_outside) {
  const std::string svg = plot_svg({{"a", samples(10)}});
  for (const char* reference : {"href", "url(", "@import", "<image", "<script", "<style"})
    EXPECT_THAT(svg, Not(HasSubstr(reference)));
}

TEST(Plot, has_axes_labels_and_a_legend) {
  const std::string svg = plot_svg({{"my workers", samples(120)}});
  EXPECT_EQ(malformed(svg), "");
  for (const char* text : {">my workers<", ">tasks pending<", ">capacity requested<",
                           ">capacity running<", ">1:00<", ">time since the start (h:mm)<", ">0<"})
    EXPECT_THAT(svg, HasSubstr(text));
  EXPECT_EQ(count(svg, "<polyline"), 3u);
}

TEST(Plot, two_panels_have_one_scale) {
  std::vector<simulation::Sample> large = samples(10);
  large[5].pending = 4000;
  const std::string svg = plot_svg({{"a", samples(10)}, {"b", large}});
  EXPECT_EQ(count(svg, ">4000<"), 2u);
  EXPECT_EQ(count(svg, "<polyline"), 6u);
}

TEST(Plot, a_long_time_is_thinned_without_losing_its_peak) {
  auto many = samples(366 * 24 * 60);
  many[300'000].running = 9000;
  const std::string svg = plot_svg({{"a year", many}});
  EXPECT_EQ(malformed(svg), "");
  EXPECT_LT(svg.size(), 60'000u);
  // At the top of the panel, where 9000 is drawn if the scale ends at 10000.
  EXPECT_THAT(svg, HasSubstr(">10000<"));
  EXPECT_THAT(svg, HasSubstr(",81.6"));
  EXPECT_THAT(svg, HasSubstr(">day "));
}

TEST(Plot, the_same_samples_give_the_same_bytes) {
  EXPECT_EQ(plot_svg({{"a", samples(500)}}), plot_svg({{"a", samples(500)}}));
}

}  // namespace
}  // namespace muster::cli
