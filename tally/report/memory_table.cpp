#include <fmt/format.h>

#include <array>
#include <optional>

#include "tally/base/text.hpp"
#include "tally/report/grid.hpp"
#include "tally/report/html/html.hpp"
#include "tally/report/memory.hpp"
#include "tally/report/memory_texts.hpp"
#include "tally/report/numbers.hpp"

namespace tally::report {
namespace {

using result::Memory;
using result::MemoryLevel;
using result::MemoryPoint;
using result::MemoryTlb;

constexpr std::size_t width = 100;

std::string levels_text(const Memory& memory) {
  Grid grid({{"level"},
             {"capacity"},
             {"reported"},
             {"latency"},
             {"cycles", Align::right},
             {"line", Align::right},
             {"ways x sets", Align::right},
             {"grade"}});
  for (const MemoryLevel& level : memory.levels) {
    grid.add({level.name, capacity_text(level), reported_text(level),
              latency_text(level.ns, level.ns_low, level.ns_high),
              level.cycles ? fmt::format("{:.1f}", *level.cycles) : "",
              level.line_bytes ? size_text(static_cast<double>(*level.line_bytes)) : "",
              geometry_text(level.ways, level.sets), grade_text(level)});
  }
  for (const MemoryTlb& tlb : memory.tlbs) {
    grid.add({tlb.name, fmt::format("{} entries", tlb.entries), "", fmt::format("+{:.2f} ns", tlb.penalty_ns), "",
              size_text(static_cast<double>(tlb.granule_bytes)), geometry_text(tlb.ways, tlb.sets),
              std::string(name(tlb.grade))});
  }
  std::string text = grid.text();
  for (const MemoryLevel& level : memory.levels) {
    for (const std::string& line : wrapped(fmt::format("{}: {}", level.name, level.because), width - 3)) {
      text += "   " + line + "\n";
    }
  }
  for (const MemoryTlb& tlb : memory.tlbs) {
    if (tlb.because.empty()) continue;
    for (const std::string& line : wrapped(fmt::format("{}: {}", tlb.name, tlb.because), width - 3)) {
      text += "   " + line + "\n";
    }
  }
  return text;
}

std::string points_text(const Memory& memory) {
  std::vector<Column> columns{{"region", Align::right},
                              {"block", Align::right},
                              {"stride", Align::right},
                              {"n", Align::right},
                              {"what"},
                              {"mode"},
                              {"pages"},
                              {"ns", Align::right},
                              {"low", Align::right},
                              {"high", Align::right},
                              {"cycles", Align::right},
                              {"MB/s", Align::right},
                              {"threads", Align::right},
                              {"batches", Align::right},
                              {"rejected", Align::right}};
  for (const auto& count : result::memory_counts) {
    columns.push_back({std::string(count.title), Align::right});
  }
  columns.push_back({"flags"});
  Grid grid(std::move(columns));
  const auto number = [](const std::optional<double>& value) { return value ? fmt::format("{:.2f}", *value) : ""; };
  for (const MemoryPoint& point : memory.points) {
    std::vector<std::string> cells{size_text(static_cast<double>(point.region_bytes)),
                                   size_text(static_cast<double>(point.block_bytes)),
                                   size_text(static_cast<double>(point.stride_bytes)),
                                   std::to_string(point.count),
                                   point.quantity,
                                   point.mode,
                                   point.pages_got,
                                   number(point.ns),
                                   number(point.ns_low),
                                   number(point.ns_high),
                                   number(point.cycles),
                                   point.mb_per_second ? fmt::format("{:.0f}", *point.mb_per_second) : "",
                                   point.threads > 1 ? std::to_string(point.threads) : "",
                                   std::to_string(point.batches),
                                   std::to_string(point.rejected)};
    for (const auto& count : result::memory_counts) {
      cells.push_back(count_text(memory.count_of(point, count.name)));
    }
    cells.push_back(join(point.flags, "; "));
    grid.add(std::move(cells));
  }
  return grid.text();
}

std::string controls_text(const Memory& memory) {
  if (memory.controls.empty()) return {};
  Grid grid({{"control"}, {"", Align::right}});
  for (const auto& control : memory.controls) grid.add({control.name, control.value});
  return "\n" + grid.text();
}

}  // namespace

std::string memory_table(const Memory& memory) {
  std::string text;
  // The report's points are for programs, and for the eye as a curve.
  text = memory.task == "levels" ? levels_text(memory) : points_text(memory);
  if (!text.empty()) text = "\n" + text;
  text += controls_text(memory);
  std::vector<std::string> lines = memory.findings;
  lines.push_back(verdict_text(memory));
  lines.push_back(counters_text(memory));
  std::string settings;
  for (const auto& [key, value] : memory.settings) {
    settings += fmt::format("{}{} {}", settings.empty() ? "" : " · ", key, value);
  }
  lines.push_back(settings);
  lines.insert(lines.end(), memory.notices.begin(), memory.notices.end());
  text += "\n";
  for (const std::string& line : lines) {
    for (const std::string& part : wrapped(line, width - 1)) text += " " + part + "\n";
  }
  return text + "\n";
}

std::span<const MemoryFormat> memory_formats() {
  static constexpr std::array all{MemoryFormat{"table", memory_table}, MemoryFormat{"csv", memory_csv},
                                  MemoryFormat{"json", memory_json}, MemoryFormat{"html", memory_html},
                                  MemoryFormat{"lens-csv", memory_lens_csv}};
  return all;
}

}  // namespace tally::report
