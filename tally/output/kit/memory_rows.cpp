#include "tally/output/kit/memory_rows.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/output/kit/element.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/memory_texts.hpp"
#include "tally/output/kit/rounded_numbers.hpp"

namespace tally::output {
namespace {

using result::Memory;
using result::MemoryLevel;
using result::MemoryPoint;
using result::MemoryTlb;

using Cells = std::vector<std::string>;

std::string whole_size(std::uint64_t bytes) { return size_text(static_cast<double>(bytes)); }

std::string decimals(const std::optional<double>& value, int digits) {
  return value ? fmt::format("{:.{}f}", *value, digits) : "";
}

// "48 K (measured 49.9 K)", "27 M [22 M, 31 M] effective"; "-" for memory.
std::string capacity_text(const MemoryLevel& level) {
  if (!level.capacity_bytes) return level.contended ? "contended" : level.unseen ? "not seen" : "-";
  const std::string measured = size_text(*level.capacity_bytes);
  const std::string interval = fmt::format("[{}, {}]", size_text(*level.capacity_low), size_text(*level.capacity_high));
  if (level.snapped)
    return fmt::format("{} (measured {})", size_text(static_cast<double>(*level.reported_bytes)), measured);
  return fmt::format("{} {}{}", measured, interval, level.effective ? " effective" : "");
}

std::string reported_text(const MemoryLevel& level) {
  return level.reported_bytes ? size_text(static_cast<double>(*level.reported_bytes)) : "";
}

// "36.0 ns [34.0, 39.0]": with the interval if it is wider than 2 %.
std::string latency_text(const MemoryLevel& level) {
  if (level.ns <= 0) return "-";
  const int digits = level.ns < 10 ? 2 : level.ns < 100 ? 1 : 0;
  std::string text = fmt::format("{:.{}f} ns", level.ns, digits);
  const auto& low = level.ns_low;
  const auto& high = level.ns_high;
  if (low && high && *high > *low * 1.02) text += fmt::format(" [{:.{}f}, {:.{}f}]", *low, digits, *high, digits);
  return text;
}

// "12 x 64"; empty if unknown.
std::string geometry_text(const std::optional<std::int64_t>& ways, const std::optional<std::int64_t>& sets) {
  return ways && sets ? fmt::format("{} x {}", *ways, *sets) : "";
}

// "0.0012", "1.003": a count per step; empty if there is none.
std::string count_text(const std::optional<double>& count) {
  return decimals(count, count && *count != 0 && *count < 0.1 ? 4 : 3);
}

void add_count_columns(std::vector<MemoryColumn>& columns) {
  for (const auto& count : result::memory_counts) columns.push_back({std::string(count.title), true});
}

void add_counts(Cells& cells, const Memory& memory, const std::vector<double>& counts) {
  for (const auto& count : result::memory_counts) cells.push_back(count_text(memory.count_of(counts, count.name)));
}

MemoryColumn key(std::string heading) { return {std::move(heading), false, false, true}; }

Cells level_cells(const Memory& memory, const MemoryLevel& level) {
  Cells cells{level.name,
              capacity_text(level),
              reported_text(level),
              latency_text(level),
              decimals(level.cycles, 1),
              level.line_bytes ? size_text(static_cast<double>(*level.line_bytes)) : "",
              geometry_text(level.ways, level.sets)};
  add_counts(cells, memory, level.counts);
  cells.emplace_back(level.contended || level.unseen ? "-" : name(level.grade));
  cells.push_back(level.because);
  return cells;
}

Cells tlb_cells(const Memory& memory, const MemoryTlb& tlb) {
  Cells cells{tlb.name,
              tlb.unseen ? "not seen" : fmt::format("{} entries", tlb.entries),
              "",
              tlb.unseen ? "-" : fmt::format("+{:.2f} ns", tlb.penalty_ns),
              "",
              size_text(static_cast<double>(tlb.granule_bytes)),
              geometry_text(tlb.ways, tlb.sets)};
  add_counts(cells, memory, {});
  cells.emplace_back(tlb.unseen ? "-" : name(tlb.grade));
  cells.push_back(tlb.because);
  return cells;
}

}  // namespace

std::string MemoryRows::text(std::size_t terminal) const {
  std::vector<Column> shown;
  for (const MemoryColumn& column : columns) {
    if (column.page_only) continue;
    shown.push_back({column.heading, column.number ? Align::right : Align::left, 0, false, column.is_key});
  }
  Grid grid(std::move(shown));
  for (const Cells& row : rows) {
    Cells cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!columns[i].page_only) cells.push_back(row[i]);
    }
    grid.add(std::move(cells));
  }
  return grid.text(terminal);
}

std::string MemoryRows::html() const {
  Cells headings;
  for (const MemoryColumn& column : columns) headings.push_back((column.number ? "#" : "") + column.heading);
  HtmlTable table(std::move(headings));
  for (const Cells& row : rows) table.add(row);
  return table.html();
}

MemoryRows level_rows(const Memory& memory) {
  MemoryRows all{{{"level"},
                  key("capacity"),
                  {"reported"},
                  key("latency"),
                  {"cycles", true},
                  {"line", true},
                  {"ways x sets", true}},
                 {}};
  add_count_columns(all.columns);
  all.columns.push_back(key("grade"));
  all.columns.push_back({"because", false, true});
  for (const MemoryLevel& level : memory.levels) all.rows.push_back(level_cells(memory, level));
  for (const MemoryTlb& tlb : memory.tlbs) all.rows.push_back(tlb_cells(memory, tlb));
  return all;
}

MemoryRows point_rows(const Memory& memory) {
  MemoryRows all{{{"task", false, true},
                  {"region", true},
                  {"block", true},
                  {"stride", true},
                  {"n", true},
                  {"what"},
                  {"mode"},
                  {"order", false, true},
                  {"pages"},
                  {"store", false, true},
                  {"load", false, true},
                  {"ns", true},
                  {"low", true},
                  {"high", true},
                  {"cycles", true},
                  {"MB/s", true},
                  {"threads", true},
                  {"batches", true},
                  {"rejected", true}},
                 {}};
  add_count_columns(all.columns);
  all.columns.push_back({"flags"});
  for (const MemoryPoint& point : memory.points) {
    const bool timed = point.batches + point.rejected > 0;  // otherwise a count, whose timings are not stored
    Cells cells{point.task,
                whole_size(point.region_bytes),
                whole_size(point.block_bytes),
                whole_size(point.stride_bytes),
                std::to_string(point.count),
                point.quantity,
                point.mode,
                point.order,
                point.pages_got,
                point.store,
                point.load,
                decimals(point.ns, 2),
                decimals(point.ns_low, 2),
                decimals(point.ns_high, 2),
                decimals(point.cycles, 2),
                decimals(point.mb_per_second, 0),
                point.threads > 1 ? std::to_string(point.threads) : "",
                timed ? std::to_string(point.batches) : "",
                timed ? std::to_string(point.rejected) : ""};
    add_counts(cells, memory, point.counts);
    cells.push_back(join(point.flags, "; "));
    all.rows.push_back(std::move(cells));
  }
  return all;
}

MemoryRows ratio_rows(const Memory& memory) {
  MemoryRows all{{{"ratio"},
                  {"region", true},
                  {"block", true},
                  {"value", true},
                  {"low", true},
                  {"high", true},
                  {"verdict"},
                  {"why"}},
                 {}};
  for (const result::MemoryRatio& ratio : memory.ratios) {
    all.rows.push_back({ratio.name, whole_size(ratio.region_bytes), whole_size(ratio.block_bytes),
                        decimals(ratio.value, 3), decimals(ratio.low, 3), decimals(ratio.high, 3), ratio.verdict,
                        ratio.reason});
  }
  return all;
}

MemoryRows ceiling_rows(const result::Ceilings& ceilings) {
  MemoryRows all{{{"ceiling"}}, {}};
  std::vector<int> processors;
  for (const auto* list : {&ceilings.bandwidths, &ceilings.peaks}) {
    for (const result::Ceiling& ceiling : *list) {
      const auto column = std::find(processors.begin(), processors.end(), ceiling.processors);
      const auto index = 1 + 2 * static_cast<std::size_t>(column - processors.begin());
      if (column == processors.end()) {
        processors.push_back(ceiling.processors);
        all.columns.push_back({plural(ceiling.processors, "CPU", "CPUs"), true});
        all.columns.push_back({"spread", true});
      }
      const std::string name = ceiling_name(ceiling);
      auto row = std::find_if(all.rows.begin(), all.rows.end(), [&](const auto& cells) { return cells[0] == name; });
      if (row == all.rows.end()) row = all.rows.insert(row, {name});
      row->resize(index + 2);
      (*row)[index] = rate_text(ceiling.per_second, list == &ceilings.bandwidths ? "B/s" : "FLOP/s");
      (*row)[index + 1] = percent_text(ceiling.spread_percent);
    }
  }
  for (Cells& cells : all.rows) cells.resize(all.columns.size());
  return all;
}

}  // namespace tally::output
