#include "programs/memory_output/stored_lens.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tally/core/base/parse_text.hpp"
#include "tally/core/base/text.hpp"

namespace tally::result {
namespace {

std::vector<std::string> lens_lines(std::string_view text) {
  std::vector<std::string> lines = split(std::string(text), '\n');
  for (std::string& line : lines)
    if (line.ends_with('\r')) line.pop_back();
  return lines;
}

// The finite number that a whole word spells; empty for other words.
std::optional<double> number_of(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// The error for a line, counted from 1.
Error wrong_lens_line(std::size_t line, std::string_view text, std::string_view wanted) {
  return {Code::bad_usage, fmt::format("line {} is not {}: '{}'", line, wanted, printable(text.substr(0, 80))), "", 0};
}

using LensFields = std::map<std::string, std::string, std::less<>>;

std::optional<double> value(const LensFields& row, std::string_view key) {
  const auto match = row.find(key);
  return match == row.end() ? std::nullopt : number_of(match->second);
}

// The value of the first of these keys that a row has, because the tools use several names for one thing.
std::optional<double> first_value(const LensFields& row, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const auto match = value(row, key)) return match;
  }
  return std::nullopt;
}

// The block size comes last in "raw-chasing-separate-128" and "pointer-chasing-4096".
std::optional<double> block_of(const LensFields& row) {
  if (const auto block = value(row, "block_size")) return block;
  for (const std::string_view key : {"raw_type", "task_name"}) {
    const auto match = row.find(key);
    if (match == row.end()) continue;
    const std::size_t dash = match->second.rfind('-');
    if (dash != std::string::npos) return number_of(std::string_view(match->second).substr(dash + 1));
  }
  return std::nullopt;
}

// Adds a write and a read of a region, or the one pass that tally's rows name; false if the row has no stamps or they
// do not ascend.
bool add_row(const LensFields& row, Memory& memory) {
  const auto region = first_value(row, {"region_size", "access_size"});
  const auto block = block_of(row);
  const auto count = value(row, "count");
  const auto total = value(row, "total");
  const auto start = first_value(row, {"cycle_write_start", "cycle_start"});
  const auto middle = first_value(row, {"cycle_read_start", "cycle_write_end"});
  const auto end = value(row, "cycle_read_end");
  if (!region || !block || !count || !total || !start || !middle || !end) return false;
  if (*region < 64 || *block < 64 || *count < 1 || *total <= 0 || *middle < *start || *end < *middle ||
      *end == *start) {
    return false;
  }
  const LensTimes times = lens_times({*region, *count, *total, *start, *middle, *end});
  const auto task = row.find("task_name");
  const bool is_raw = task != row.end() && task->second == "chase-raw";
  const bool is_write = task != row.end() && task->second == "chase-write";
  for (const auto& [quantity, ns] : {std::pair{is_raw ? "raw" : "write", times.write_ns}, {"read", times.read_ns}}) {
    if ((is_raw || is_write) && quantity == std::string_view("read")) continue;
    MemoryPoint point;
    point.task = is_raw || is_write ? task->second : "chase-read";
    point.quantity = quantity;
    point.mode = "cold by-size";
    point.ns = ns;
    point.region_bytes = static_cast<std::uint64_t>(std::llround(std::min(*region, 1e18)));
    point.block_bytes = point.stride_bytes = static_cast<std::uint64_t>(*block);
    point.count = point.region_bytes / point.block_bytes;
    point.regions = static_cast<std::uint64_t>(*count);
    memory.points.push_back(std::move(point));
  }
  return true;
}

// Parses "[ 98.2] {0}[pointer-chasing-64] region_size 4096, block_size 64, count 9, total 8, average 7, cycle 1 - 2 -
// 3."
LensFields row_of_log(std::string_view line) {
  LensFields row;
  const std::size_t task = line.find("}[");
  const std::size_t task_end = line.find(']', task);
  if (task == std::string_view::npos || task_end == std::string_view::npos) return row;
  row["task_name"] = std::string(line.substr(task + 2, task_end - task - 2));
  for (const std::string& column : split(std::string(line.substr(task_end + 1)), ',')) {
    auto words = split_words(column);
    if (words.size() < 2) continue;
    if (words.back().ends_with('.')) words.back().pop_back();
    if (words[0] == "cycle" && words.size() == 6) {
      row["cycle_write_start"] = words[1];
      row["cycle_read_start"] = words[3];
      row["cycle_read_end"] = words[5];
    } else {
      row[words[0]] = words[1];
    }
  }
  return row;
}

bool is_log_line(std::string_view line) {
  return line.find("}[") != std::string_view::npos && line.find("region_size ") != std::string_view::npos;
}

bool looks_like_lens_log(std::string_view text) {
  const auto lines = lens_lines(text);
  return std::any_of(lines.begin(), lines.end(), is_log_line);
}

Result<Memory> read_lens_log(std::string_view text) {
  Memory memory;
  const auto lines = lens_lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // The kernel's log contains other lines too.
    if (is_log_line(lines[i]) && !add_row(row_of_log(lines[i]), memory)) {
      return fail(wrong_lens_line(i + 1, lines[i], "a row of LENS with its count, total and three ascending stamps"));
    }
  }
  return memory;
}

bool looks_like_lens_csv(std::string_view text) {
  const std::string_view header = text.substr(0, std::min(text.find('\n'), text.size()));
  return header.find("cycle_read_end") != std::string_view::npos && header.find("count") != std::string_view::npos;
}

Result<Memory> read_lens_csv(std::string_view text) {
  Memory memory;
  const auto lines = lens_lines(text);
  const auto names = split(lines.front(), ',');
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const auto cells = split(lines[i], ',');
    LensFields row;
    for (std::size_t k = 0; k < std::min(names.size(), cells.size()); ++k) row[names[k]] = cells[k];
    if (cells.size() != names.size() || !add_row(row, memory)) {
      return fail(
          wrong_lens_line(i + 1, lines[i], "a row with region, block, count, total and three ascending stamps"));
    }
  }
  return memory;
}

}  // namespace

LensTimes lens_times(const LensRow& row) {
  const double lines = row.regions * row.region_bytes / 64;
  const double ns_per_tick = row.total_ns / (row.end - row.start);
  return {(row.middle - row.start) * ns_per_tick / lines, (row.end - row.middle) * ns_per_tick / lines};
}

bool is_lens(std::string_view text) { return looks_like_lens_log(text) || looks_like_lens_csv(text); }

Result<Memory> read_lens(std::string_view text, const std::string& name) {
  const bool is_log = looks_like_lens_log(text);
  auto memory = is_log ? read_lens_log(text) : read_lens_csv(text);
  if (memory && memory->points.empty()) memory = fail(Code::bad_usage, "it contains no numbers");
  const char* const tool = is_log ? "LENS's log" : "rows of LENS and VANS";
  if (!memory)
    return fail(Code::bad_usage, fmt::format("'{}' looks like {}, but cannot be read: {}", printable(name), tool,
                                             memory.error().message));
  memory->task = memory->points.front().task;
  memory->settings.insert(memory->settings.begin(), {"read from", tool});
  memory->counters_reason = "another tool's result";
  return memory;
}

}  // namespace tally::result
