#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

#include "tally/base/text.hpp"
#include "tally/report/grid.hpp"
#include "tally/report/memory.hpp"

namespace tally::report {
namespace {

using result::Memory;
using result::MemoryLevel;
using result::MemoryPoint;
using result::MemoryTlb;

constexpr std::size_t width = 100;

// "48 K", "1.96 M": as short as sizes are written in data sheets.
std::string size_text(double bytes) {
  constexpr std::array units{"B", "K", "M", "G"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  const int digits = bytes < 10 ? 2 : bytes < 100 ? 1 : 0;
  std::string number = fmt::format("{:.{}f}", bytes, digits);
  if (number.find('.') != std::string::npos) {
    while (number.back() == '0') number.pop_back();
    if (number.back() == '.') number.pop_back();
  }
  return number + " " + units[unit];
}

std::string capacity_text(const MemoryLevel& level) {
  if (!level.capacity_bytes) return "-";
  const std::string measured = size_text(*level.capacity_bytes);
  const std::string interval = fmt::format("[{}, {}]", size_text(*level.capacity_low), size_text(*level.capacity_high));
  if (level.snapped)
    return fmt::format("{} (measured {})", size_text(static_cast<double>(*level.reported_bytes)), measured);
  return fmt::format("{} {}{}", measured, interval, level.effective ? " effective" : "");
}

std::string reported_text(const MemoryLevel& level) {
  return level.reported_bytes ? size_text(static_cast<double>(*level.reported_bytes)) : "";
}

std::string latency_text(double ns, const std::optional<double>& low, const std::optional<double>& high) {
  const int digits = ns < 10 ? 2 : ns < 100 ? 1 : 0;
  std::string text = fmt::format("{:.{}f} ns", ns, digits);
  if (low && high && *high > *low * 1.02) text += fmt::format(" [{:.{}f}, {:.{}f}]", *low, digits, *high, digits);
  return text;
}

std::string geometry_text(const std::optional<std::int64_t>& ways, const std::optional<std::int64_t>& sets) {
  return ways && sets ? fmt::format("{} x {}", *ways, *sets) : "";
}

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
              geometry_text(level.ways, level.sets), std::string(name(level.grade))});
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
    if (!tlb.because.empty()) text += fmt::format("   {}: {}\n", tlb.name, tlb.because);
  }
  return text;
}

std::string points_text(const Memory& memory) {
  Grid grid({{"region", Align::right},
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
             {"batches", Align::right},
             {"rejected", Align::right},
             {"flags"}});
  const auto number = [](const std::optional<double>& value) { return value ? fmt::format("{:.2f}", *value) : ""; };
  for (const MemoryPoint& point : memory.points) {
    grid.add({size_text(static_cast<double>(point.region_bytes)), size_text(static_cast<double>(point.block_bytes)),
              size_text(static_cast<double>(point.stride_bytes)), std::to_string(point.count), point.quantity,
              point.mode, point.pages_got, number(point.ns), number(point.ns_low), number(point.ns_high),
              number(point.cycles), std::to_string(point.batches), std::to_string(point.rejected),
              join(point.flags, "; ")});
  }
  return grid.text();
}

std::string controls_text(const Memory& memory) {
  if (memory.controls.empty()) return {};
  Grid grid({{"control"}, {"", Align::right}});
  for (const auto& control : memory.controls) grid.add({control.name, control.value});
  return "\n" + grid.text();
}

std::string verdict_text(const Memory& memory) {
  const auto& verdict = memory.verdict;
  const std::string noise = fmt::format("{:.1f} % of the batches rejected, reference ring moved {:.1f} %",
                                        verdict.rejected_percent, verdict.reference_moved_percent);
  if (verdict.contended) return fmt::format("contended: {}; {}", verdict.text, noise);
  return fmt::format("noise: {} of {} points flagged, {}", verdict.flagged, verdict.points, noise);
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
  if (!memory.counters_reason.empty()) lines.push_back("counters: none: " + memory.counters_reason);
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
                                  MemoryFormat{"json", memory_json}};
  return all;
}

}  // namespace tally::report
