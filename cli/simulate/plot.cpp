#include "cli/simulate/plot.hpp"

#include <algorithm>
#include <cstdio>

namespace muster::cli {
namespace {

using std::chrono::milliseconds;

constexpr double width = 960, panel_height = 360;
constexpr double left = 70, right = 24, top = 56, bottom = 48;
constexpr std::size_t most_points = 800;  // more than a screen shows

struct Series {
  const char* name;
  const char* colour;
  std::int64_t simulation::Sample::*value;
};
constexpr Series series[] = {{"tasks pending", "#c1121f", &simulation::Sample::pending},
                             {"capacity requested", "#e09f3e", &simulation::Sample::requested},
                             {"capacity running", "#1b6ca8", &simulation::Sample::running}};

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

// What XML 1.0 cannot hold becomes a question mark.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (byte < 0x20 || byte >= 0x7F)
      out += '?';
    else
      out += c;
  }
  return out;
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                    std::string_view more = "") {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" +
         std::string(anchor) + "\"" + std::string(more) + ">" + escaped(text) + "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, std::string_view colour) {
  return "<line x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" + number(x2) +
         "\" y2=\"" + number(y2) + "\" stroke=\"" + std::string(colour) + "\"/>\n";
}

// 1, 2 or 5 times a power of ten, so that there are about five of them.
std::int64_t nice_step(std::int64_t most) {
  for (std::int64_t power = 1;; power *= 10)
    for (const std::int64_t factor : {1, 2, 5})
      if (power * factor * 6 >= most) return power * factor;
}

std::int64_t time_step(std::int64_t seconds) {
  for (const std::int64_t step : {60, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400})
    if (step * 10 >= seconds) return step;
  return nice_step(seconds / 86400 * 6 / 10) * 86400;
}

std::string time_label(std::int64_t seconds, std::int64_t step) {
  char text[32];
  if (step >= 86400)
    std::snprintf(text, sizeof text, "day %lld", static_cast<long long>(seconds / 86400));
  else
    std::snprintf(text, sizeof text, "%lld:%02lld", static_cast<long long>(seconds / 3600),
                  static_cast<long long>(seconds % 3600 / 60));
  return text;
}

// The largest of each stretch, so that no peak is lost.
std::vector<simulation::Sample> thinned(const std::vector<simulation::Sample>& samples) {
  if (samples.size() <= most_points) return samples;
  std::vector<simulation::Sample> thin;
  for (std::size_t i = 0; i < most_points; ++i) {
    const std::size_t begin = samples.size() * i / most_points;
    const std::size_t end = samples.size() * (i + 1) / most_points;
    simulation::Sample most{.at = samples[begin].at};
    for (std::size_t j = begin; j < end; ++j)
      for (const Series& each : series)
        most.*each.value = std::max(most.*each.value, samples[j].*each.value);
    thin.push_back(most);
  }
  return thin;
}

constexpr double row_height = 22, rows_top = 34;
constexpr std::size_t most_rows = 40;

double rows_height(const PlotPanel& panel) {
  if (panel.pools.empty()) return 0;
  const std::size_t rows = std::min(panel.pools.size(), most_rows) + 1;
  return rows_top + row_height * static_cast<double>(rows);
}

// Waits and costs of the pools as bars, to one scale over all panels.
class PoolRows {
 public:
  PoolRows(double y, double longest, double dearest)
      : y_(y), longest_(std::max(longest, 1e-9)), dearest_(std::max(dearest, 1e-9)) {}

  std::string draw(const std::vector<PlotPool>& pools) const {
    const char* bold = " font-weight=\"bold\"";
    std::string out = text_at(left, y_ + 18, "start", "pool", bold) +
                      text_at(waits_at, y_ + 18, "start", "wait (bar: p90)", bold) +
                      text_at(costs_at, y_ + 18, "start", "cost", bold);
    double y = y_ + rows_top;
    for (std::size_t i = 0; i < std::min(pools.size(), most_rows); ++i, y += row_height) {
      const PlotPool& pool = pools[i];
      out += text_at(left, y + 12, "start", pool.name);
      out += bar(waits_at, y, pool.wait_seconds / longest_, "#c1121f", pool.wait_text);
      out += bar(costs_at, y, pool.cost / dearest_, "#1b6ca8", pool.cost_text);
    }
    if (pools.size() > most_rows)
      out += text_at(left, y + 12, "start",
                     "and " + std::to_string(pools.size() - most_rows) + " more pools");
    return out;
  }

 private:
  static constexpr double waits_at = 330, costs_at = 690, widest = 90;

  static std::string bar(double x, double y, double share, const char* colour,
                         const std::string& text) {
    const double wide = std::clamp(share, 0.0, 1.0) * widest;
    return "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(wide) +
           "\" height=\"14\" fill=\"" + colour + "\"/>\n" +
           text_at(x + wide + 6, y + 12, "start", text);
  }

  double y_, longest_, dearest_;
};

class Panel {
 public:
  Panel(double y, std::int64_t most, std::int64_t seconds)
      : y_(y),
        step_(nice_step(most)),
        most_((most + step_ - 1) / step_ * step_),
        seconds_(std::max<std::int64_t>(60, seconds)) {}

  std::string draw(const PlotPanel& panel) const {
    return text_at(left, y_ + 22, "start", panel.title, " font-size=\"15\" font-weight=\"bold\"") +
           legend() + axes() + curves(thinned(panel.samples));
  }

 private:
  double x_of(double seconds) const {
    return left + (width - left - right) * seconds / static_cast<double>(seconds_);
  }
  double y_of(double value) const {
    return y_ + panel_height - bottom -
           (panel_height - top - bottom) * value / static_cast<double>(most_);
  }

  std::string legend() const {
    std::string out;
    double x = left;
    for (const Series& each : series) {
      out += "<rect x=\"" + number(x) + "\" y=\"" + number(y_ + 34) +
             "\" width=\"12\" height=\"12\" fill=\"" + each.colour + "\"/>\n";
      out += text_at(x + 18, y_ + 44, "start", each.name);
      x += 160;
    }
    return out;
  }

  std::string axes() const {
    std::string out;
    for (std::int64_t value = 0; value <= most_; value += step_) {
      const double y = y_of(static_cast<double>(value));
      out += line(left, y, width - right, y, value == 0 ? "#333333" : "#dddddd");
      out += text_at(left - 8, y + 4, "end", std::to_string(value));
    }
    out += line(left, y_of(0), left, y_of(static_cast<double>(most_)), "#333333");
    const std::int64_t step = time_step(seconds_);
    for (std::int64_t at = 0; at <= seconds_; at += step) {
      const double x = x_of(static_cast<double>(at));
      out += line(x, y_of(0), x, y_of(0) + 5, "#333333");
      out += text_at(x, y_of(0) + 20, "middle", time_label(at, step));
    }
    out += text_at((left + width - right) / 2, y_ + panel_height - 8, "middle",
                   step >= 86400 ? "time since the start" : "time since the start (h:mm)");
    const double middle = (y_of(0) + y_of(static_cast<double>(most_))) / 2;
    return out + text_at(16, middle, "middle", "tasks, capacity",
                         " transform=\"rotate(-90 16 " + number(middle) + ")\"");
  }

  std::string curves(const std::vector<simulation::Sample>& samples) const {
    std::string out;
    for (const Series& each : series) {
      out += "<polyline fill=\"none\" stroke=\"" + std::string(each.colour) +
             "\" stroke-width=\"1.5\" stroke-linejoin=\"round\" points=\"";
      for (std::size_t i = 0; i < samples.size(); ++i)
        out += (i ? " " : "") + number(x_of(static_cast<double>(samples[i].at.count()) / 1000)) +
               "," + number(y_of(static_cast<double>(samples[i].*each.value)));
      out += "\"/>\n";
    }
    return out;
  }

  double y_;
  std::int64_t step_, most_, seconds_;
};

}  // namespace

std::string plot_svg(const std::vector<PlotPanel>& panels) {
  std::int64_t most = 1, seconds = 0;
  double longest = 0, dearest = 0, whole = 0;
  for (const PlotPanel& panel : panels) {
    for (const simulation::Sample& sample : panel.samples) {
      for (const Series& each : series) most = std::max(most, sample.*each.value);
      seconds = std::max<std::int64_t>(seconds, sample.at.count() / 1000);
    }
    for (const PlotPool& pool : panel.pools) {
      longest = std::max(longest, pool.wait_seconds);
      dearest = std::max(dearest, pool.cost);
    }
    whole += panel_height + rows_height(panel);
  }
  const std::string height = number(whole);
  std::string out =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"" +
      number(width) + "\" height=\"" + height + "\" viewBox=\"0 0 " + number(width) + " " + height +
      "\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#222222\">\n"
      "<title>Pending tasks, requested and running capacity over time; waits and costs of "
      "pools</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
  double y = 0;
  for (const PlotPanel& panel : panels) {
    out += Panel(y, most, seconds).draw(panel);
    y += panel_height;
    if (!panel.pools.empty()) out += PoolRows(y, longest, dearest).draw(panel.pools);
    y += rows_height(panel);
  }
  return out + "</svg>\n";
}

}  // namespace muster::cli
