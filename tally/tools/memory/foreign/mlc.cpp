// Reads Intel's Memory Latency Checker: matrices of nodes, and latency and bandwidth by injected delay.
#include <optional>

#include "tally/core/base/parse_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/tools/memory/foreign/foreign.hpp"
#include "tally/tools/memory/foreign/lines.hpp"

namespace tally::memory {
namespace {

using Words = std::vector<std::string>;

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// All numbers of a line; empty if a word is not a number.
std::vector<double> numbers_of(const Words& words) {
  std::vector<double> numbers;
  for (const std::string& word : words) {
    // A dash is a pair that was not measured.
    const auto number = word == "-" ? std::optional(-1.0) : number_of(word);
    if (!number) return {};
    numbers.push_back(*number);
  }
  return numbers;
}

// The table that the following lines belong to.
enum class Part { none, latencies, bandwidths, loaded };

Part part_of(const std::string& line, Part now) {
  if (holds(line, "idle latencies")) return Part::latencies;
  if (holds(line, "Bandwidths between nodes")) return Part::bandwidths;
  if (holds(line, "Loaded Latencies")) return Part::loaded;
  // Other tables begin with a line that starts with "Measuring".
  return line.starts_with("Measuring") ? Part::none : now;
}

}  // namespace

bool looks_like_mlc(std::string_view text) {
  return holds(text.substr(0, 4096), "Memory Latency Checker") ||
         (holds(text, "Inject") && holds(text, "Latency") && holds(text, "Delay"));
}

Result<result::Memory> read_mlc(std::string_view text) {
  result::Memory memory;
  result::MemoryMap latencies{"Idle latency", "memory of node", "processor of node", false, false, "ns", {}};
  result::MemoryMap bandwidths{"Loads", "memory of node", "processor of node", false, false, "MB/s", {}};
  Part part = Part::none;
  for (const std::string& line : lines_of(text)) {
    part = part_of(line, part);
    // "Inject Latency Bandwidth", even if the file contains only this table.
    if (holds(line, "Inject") && holds(line, "Bandwidth")) part = Part::loaded;
    const auto numbers = numbers_of(split_words(line));
    if (part == Part::loaded && numbers.size() == 3) {
      auto point = foreign_point("loaded", "load", 0, numbers[1]);
      point.mode = "lap, loaded";
      point.mb_per_second = numbers[2];
      memory.points.push_back(std::move(point));
    } else if ((part == Part::latencies || part == Part::bandwidths) && numbers.size() >= 2 &&
               split_words(line).size() > 1) {
      auto& map = part == Part::latencies ? latencies : bandwidths;
      for (std::size_t i = 1; i < numbers.size(); ++i) {
        if (numbers[i] >= 0) map.cells.push_back({static_cast<double>(i - 1), numbers[0], numbers[i]});
      }
    }
  }
  for (auto* const map : {&latencies, &bandwidths}) {
    if (!map->cells.empty()) memory.maps.push_back(std::move(*map));
  }
  return memory;
}

}  // namespace tally::memory
