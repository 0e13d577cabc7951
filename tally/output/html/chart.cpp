#include "tally/output/html/chart.hpp"

#include <fmt/format.h>

#include "tally/core/base/json_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/kit/element.hpp"
#include "tally/output/kit/json_values.hpp"
#include "tally/output/kit/rounded_numbers.hpp"

namespace tally::output {
namespace {

// If there are more, page.js hides all but the first six.
constexpr std::size_t most_series = 12;

Json scale_json(const Scale& scale) {
  Json bounds = Json::object();
  if (scale.least) bounds["min"] = *scale.least;
  if (scale.most) bounds["max"] = *scale.most;
  return {{"label", scale.label}, {"unit", scale.unit}, {"log", scale.logarithmic}, {"bounds", bounds}};
}

Json series_json(const ChartSeries& series) {
  Json points = Json::array();
  for (const ChartPoint& point : series.points) {
    points.push_back(
        Json::array({point.x, point.y, value_or_null(point.low), value_or_null(point.high), point.hollow, point.note}));
  }
  return {{"name", series.name},
          {"color", series.color},
          {"line", series.line},
          {"dashed", series.dashed},
          {"points", std::move(points)}};
}

std::string data_of(const Chart& chart) {
  Json json{{"x", scale_json(chart.x)}, {"y", scale_json(chart.y)}, {"steps", chart.steps}};
  if (chart.named) json["named"] = true;
  json["series"] = Json::array();
  for (const ChartSeries& series : chart.series) json["series"].push_back(series_json(series));
  json["bands"] = Json::array();
  for (const Band& band : chart.bands) {
    json["bands"].push_back({{"from", band.from}, {"to", band.to}, {"level", band.level}, {"label", band.label}});
  }
  json["marks"] = Json::array();
  for (const Mark& mark : chart.marks) json["marks"].push_back({{"at", mark.at}, {"dotted", mark.dotted}});
  // Only "</" can end a script element; names come from files and programs.
  std::string text = json_text(json);
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    text.replace(at, 1, "\\u003c");
  }
  return text;
}

std::string value_in(const Scale& scale, double value) {
  return scale.unit == "bytes" ? size_text(value) : rounded(value, 3);
}

std::string axis_heading(const Scale& scale) {
  return scale.unit.empty() || scale.unit == "bytes" || scale.label.find(scale.unit) != std::string::npos
             ? scale.label
             : fmt::format("{}, {}", scale.label, scale.unit);
}

std::string numbers_of(const Chart& chart) {
  HtmlTable table({"", "#" + axis_heading(chart.x), "#" + axis_heading(chart.y), "#low", "#high", "remark"});
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      table.add({chart.series.size() > 1 ? series.name : "", value_in(chart.x, point.x), value_in(chart.y, point.y),
                 point.low ? rounded(*point.low, 3) : "", point.high ? rounded(*point.high, 3) : "", point.note});
    }
  }
  return table.html();
}

}  // namespace

std::string figure(const Chart& chart) {
  std::size_t points = 0;
  for (const ChartSeries& series : chart.series) points += series.points.size();
  if (points == 0) return {};
  std::string caption = chart.caption;
  if (chart.series.size() > most_series) caption += " Click a struck-out name to show its curve.";
  return element("h3", chart.title) +
         fmt::format(
             "<figure data-chart>\n<div class=\"canvas\"><canvas role=\"img\" aria-label=\"{}\"></canvas></div>\n"
             "<script type=\"application/json\">{}</script>\n{}</figure>\n",
             escaped(chart.title), data_of(chart), element("figcaption", caption)) +
         folded("Show as a table", numbers_of(chart));
}

}  // namespace tally::output
