#include <fmt/format.h>

#include "programs/memory_output/memory_format.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/memory_rows.hpp"
#include "tally/output/kit/memory_texts.hpp"

namespace tally::output {
namespace {

using result::Memory;

constexpr std::size_t usual_memory_width = 100;

// The reasons of each level, below the table.
std::string reasons_text(const Memory& memory, std::size_t width) {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& because) {
    if (because.empty()) return;
    for (const std::string& line : wrapped(fmt::format("{}: {}", name, because), width - 3))
      text += "   " + line + "\n";
  };
  for (const result::MemoryLevel& level : memory.levels) add(level.name, level.because);
  for (const result::MemoryTlb& tlb : memory.tlbs) add(tlb.name, tlb.because);
  return text;
}

std::string controls_text(const Memory& memory, std::size_t terminal) {
  if (memory.controls.empty()) return {};
  Grid grid({{"control"}, {"", Align::right}});
  for (const auto& control : memory.controls) grid.add({control.name, control.value});
  return "\n" + grid.text(terminal);
}

}  // namespace

std::string memory_table(const Memory& memory, std::size_t terminal) {
  const std::size_t width = prose_width(usual_memory_width, terminal);
  std::string text = "\n";
  // The points of the task levels are for programs, and for people as a curve.
  if (memory.task != "levels") text += point_rows(memory).text(terminal);
  if (const MemoryRows levels = level_rows(memory); !levels.rows.empty()) {
    if (text.size() > 1) text += "\n";
    text += levels.text(terminal) + reasons_text(memory, width);
  }
  if (const MemoryRows ratios = ratio_rows(memory); !ratios.rows.empty()) text += "\n" + ratios.text(terminal);
  if (const MemoryRows ceilings = ceiling_rows(memory.ceilings); !ceilings.rows.empty())
    text += ceilings.text(terminal);
  if (text.size() == 1) text.clear();
  text += controls_text(memory, terminal);
  std::vector<std::string> lines = memory.findings;
  lines.push_back(verdict_text(memory));
  lines.push_back(advice_text(memory));
  lines.push_back(counters_text(memory));
  std::string settings;
  for (const auto& [key, value] : memory.settings) {
    settings += fmt::format("{}{} {}", settings.empty() ? "" : " · ", key, value);
  }
  lines.push_back(settings);
  lines.insert(lines.end(), memory.notices.begin(), memory.notices.end());
  text += "\n";
  for (const std::string& line : lines) {
    if (line.empty()) continue;
    for (const std::string& row : wrapped(line, width - 1)) text += " " + row + "\n";
  }
  return text + "\n";
}

}  // namespace tally::output
