#include "tally/output/text/roofline_block.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/roofline.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/memory_rows.hpp"
#include "tally/output/kit/wrap.hpp"

namespace tally::output {
namespace {

std::string paragraph(const std::string& text, std::size_t width) {
  std::string lines;
  for (const std::string& line : wrapped(text, width - 3)) lines += (lines.empty() ? " " : "   ") + line + "\n";
  return lines;
}

}  // namespace

std::string roofline_block(const result::Roofline& roofline, std::size_t terminal) {
  constexpr std::size_t usual_width = 100;
  const std::size_t width = prose_width(usual_width, terminal);
  std::string text;
  // What to improve first: the functions and regions.
  std::vector<result::RooflinePoint> points = roofline.points;
  std::stable_partition(points.begin(), points.end(),
                        [](const auto& point) { return point.kind != "program" && point.seconds; });
  for (const result::RooflinePoint& point : points) text += paragraph(verdict_text(roofline, point), width);
  text += "\n";
  MemoryRows rows{roofline_columns(), {}};
  for (const result::RooflinePoint& point : roofline.points) rows.rows.push_back(roofline_cells(roofline, point));
  text += rows.text(terminal) + "\n" + ceiling_rows(roofline.ceilings).text(terminal) + "\n";
  for (const std::string& note : roofline_notes(roofline)) text += paragraph(note, width);
  return text;
}

}  // namespace tally::output
