#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tally/core/base/foreign_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/output/analysis/cycle_causes.hpp"
#include "tally/output/kinds/intervals.hpp"
#include "tally/output/kinds/regions_format.hpp"
#include "tally/output/kinds/stat_format.hpp"
#include "tally/output/kit/footnotes.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/output/kit/metric_text.hpp"
#include "tally/output/kit/presented_machine_text.hpp"
#include "tally/output/result/backend_label.hpp"
#include "tally/output/text/mix_table.hpp"
#include "tally/output/text/processes_block.hpp"
#include "tally/output/text/roofline_block.hpp"

namespace tally::output {
namespace {

std::string number(const std::optional<std::int64_t>& value, Unit unit) {
  return value ? value_text(*value, unit) : "-";
}

std::string median_text(const result::Event& row) {
  const std::optional<double>& median = row.summary->median;
  std::string text = number(row.total.count.value, row.total.unit);
  // The count is the median rounded down. Shows the half, so that table and file agree.
  const bool is_half = median && *median != static_cast<double>(static_cast<std::int64_t>(*median));
  return is_half && row.total.unit == Unit::events ? text + ".5" : text;
}

std::string spread_text(const Summary& summary) {
  const auto percent = spread_percent(summary);
  return percent ? "± " + (*percent == 0 ? "0" : percent_text(*percent)) : "";
}

/// The rows of events: all but those that the top-down classes contain.
std::vector<result::Event> event_rows(const result::Stat& stat) {
  if (top_down(stat.events).empty()) return stat.events;
  std::vector<result::Event> rows;
  std::copy_if(stat.events.begin(), stat.events.end(), std::back_inserter(rows),
               [](const result::Event& event) { return !is_of_top_down(event.total.name); });
  return rows;
}

std::string top_down_block(const result::Stat& stat, std::size_t terminal) {
  Grid grid({{"top-down class"}, {"slots", Align::right}, {"share", Align::right}});
  for (const TopDownClass& row : top_down(stat.events))
    grid.add({indented_name(row, "  "), thousands(row.slots), percent_text(100 * row.share)});
  return grid.empty() ? "" : grid.text(terminal);
}

std::string events_once(const result::Stat& stat, Footnotes& notes, std::size_t terminal) {
  Grid grid({{"event"}, {"count", Align::right}, formula_column("per"), key_column("trust")});
  for (const result::Event& row : event_rows(stat)) {
    grid.add({row.total.name.text(), number(row.total.count.value, row.total.unit),
              row_metric_text(stat, row.total.name), notes.cell(row.total.count)});
  }
  return grid.text(terminal);
}

std::string events_repeated(const result::Stat& stat, Footnotes& notes, std::size_t terminal) {
  Grid grid({{"event"},
             {"median", Align::right},
             {"low", Align::right},
             {"high", Align::right},
             {"min", Align::right},
             {"max", Align::right},
             key_column("spread"),
             formula_column("per"),
             key_column("trust")});
  for (const result::Event& row : event_rows(stat)) {
    if (!row.summary) continue;
    const Summary& summary = *row.summary;
    const Unit unit = row.total.unit;
    const auto cell = [&](const std::optional<std::int64_t>& value) { return value ? number(value, unit) : ""; };
    grid.add({row.total.name.text(), median_text(row), cell(summary.low), cell(summary.high), cell(summary.min),
              cell(summary.max), spread_text(summary), row_metric_text(stat, row.total.name),
              notes.cell(row.total.count)});
  }
  return grid.text(terminal);
}

// The corrections for page faults and interrupts, if there are any.
std::string corrections_block(const result::Stat& stat, std::size_t terminal) {
  Grid grid({{"corrected"}, {"count", Align::right}, prose_column("subtracted")});
  bool any = false;
  for (const result::Event& row : stat.events) {
    const auto& correction = row.total.count.correction;
    if (!correction || correction->each == 0) continue;
    any = true;
    const std::string faults = plural(correction->page_faults, "page fault", "page faults");
    std::string what = faults + "; interrupts are still included";
    if (correction->interrupts) {
      const std::string interrupts = plural(*correction->interrupts, "interrupt", "interrupts");
      what = correction->page_faults == 0 ? interrupts : faults + " and " + interrupts;
    }
    grid.add({row.total.name.text(), thousands(correction->corrected),
              fmt::format("{} for each of {}", correction->each, what)});
  }
  return any ? grid.text(terminal) : "";
}

std::string runs_line(const result::Stat& stat) {
  for (const result::Event& row : stat.events) {
    if (!row.summary || !row.summary->median) continue;
    const std::size_t n = row.summary->n;
    const std::string runs = plural(static_cast<std::int64_t>(n), "run", "runs");
    if (row.summary->coverage) {
      return fmt::format(" {} · low to high: interval of the median, {}\n", runs,
                         percent_text(*row.summary->coverage * 100));
    }
    return fmt::format(" {} · no confidence interval of the median: it needs {} runs\n", runs, fewest_for_interval);
  }
  return {};
}

// "3 processes, 5 threads" of a run; empty if the backend cannot distinguish them.
std::string population(const result::Run& run) {
  if (!run.process_count || !run.thread_count) return {};
  return fmt::format("{}, {}", plural(*run.process_count, "process", "processes"),
                     plural(*run.thread_count, "thread", "threads"));
}

std::string footer(const result::Stat& stat) {
  std::vector<std::string> parts;
  const bool any_user = std::any_of(stat.events.begin(), stat.events.end(), [](const result::Event& row) {
    // The row of page-faults:u names the kernel's counter as its source; the other software events include the kernel.
    return row.total.count.value && row.total.name.mode == Mode::user && row.total.count.source != Source::kernel;
  });
  const bool any_kernel = std::any_of(stat.events.begin(), stat.events.end(), [](const result::Event& row) {
    return row.total.count.value && (row.total.name.mode == Mode::kernel || row.total.name.mode == Mode::both);
  });
  if (any_user && !any_kernel) parts.emplace_back("user mode only");
  const result::BackendLabel label = result::label_of(stat.backend);
  if (!label.file.empty()) return fmt::format(" {}\n", label.file);
  std::string people = stat.runs.empty() ? "" : population(stat.runs.back());
  parts.push_back(!stat.target.empty() ? stat.target
                  : people.empty()     ? "the program and its descendants"
                                       : std::move(people));
  if (!stat.passes.empty()) parts.push_back(fmt::format("{} executions, one for each pass", stat.passes.size()));
  if (stat.processor) parts.push_back(fmt::format("pinned to CPU {}", *stat.processor));
  const bool is_native = label.footer.empty() || (label.has_pmu && !any_user && !any_kernel);
  parts.emplace_back(!is_native ? label.footer : stat.target.empty() ? "run natively" : "the kernel's counters");
  for (std::string& words : presented_machine(stat)) parts.push_back(std::move(words));
  return fmt::format(" {}\n", join(parts, " · "));
}

// The counts of parts of the machine, one row per event.
std::string parts_block(const result::Stat& stat, std::size_t terminal) {
  Grid grid({{"part"}, {"cpus"}, {"event"}, {"count", Align::right}, key_column("trust")});
  Footnotes notes(terminal);
  bool any = false;
  for (const result::Run& run : stat.runs) {
    for (const result::Part& part : run.parts) {
      for (const result::EventCount& event_count : part.counts) notes.announce(event_count.count);
    }
  }
  for (const result::Run& run : stat.runs) {
    for (const result::Part& part : run.parts) {
      for (std::size_t i = 0; i < part.counts.size(); ++i) {
        const result::EventCount& one = part.counts[i];
        any = true;
        grid.add({i == 0 ? part.name : "", i == 0 ? part.cpus : "", one.name.text(), number(one.count.value, one.unit),
                  notes.cell(one.count)});
      }
    }
  }
  if (!any) return {};
  const std::string below = notes.text();
  return "\n" + grid.text(terminal) + (below.empty() ? "" : "\n" + below);
}

// Whether the program marks regions with libtally, whose instructions its total includes.
bool uses_library(const result::ProgramRegions& program) {
  return std::ranges::any_of(program.regions, [](const RegionResult& region) {
    return std::ranges::any_of(region.all.events, [](const RegionEvent& event) { return event.overhead != 0; });
  });
}

// A note if a program's regions took the events of the command, but have no room for all of them.
std::string left_out(const result::Stat& stat, const result::ProgramRegions& program) {
  std::vector<std::string> hardware;
  for (const result::Event& row : stat.events)
    if (row.total.name.mode) hardware.push_back(row.total.name.text());
  constexpr std::size_t least_room = 8;
  if (program.regions.empty()) return {};
  const std::vector<RegionEvent>& events = program.regions.front().all.events;
  if (events.size() < least_room || events.size() >= hardware.size()) return {};
  for (std::size_t i = 0; i < events.size(); ++i)
    if (events[i].event.text() != hardware[i]) return {};
  return fmt::format("\n regions have the first {} of the {} hardware events\n", events.size(), hardware.size());
}

// The regions of the last run; files contain those of all runs.
std::string regions_block(const result::Stat& stat, const Style& style) {
  if (stat.runs.empty() || stat.runs.back().regions.empty()) return {};
  const std::vector<result::ProgramRegions>& programs = stat.runs.back().regions;
  std::string text = stat.runs.size() > 1 ? "\nof the last run\n" : "";
  for (const result::ProgramRegions& program : programs)
    text += "\n" + regions_table(program, style.terminal, style.per_thread);
  if (std::ranges::any_of(programs, uses_library))
    text += "\n counts of regions exclude the work of tally's library; counts of the program include it\n";
  for (const result::ProgramRegions& program : programs) text += left_out(stat, program);
  return text;
}

std::string intervals_block(const result::Stat& stat, Style style) {
  std::string text;
  style.run_numbers = stat.runs.size() > 1;
  for (const result::Run& run : stat.runs) {
    for (const result::Interval& interval : run.intervals) {
      if (style.intervals) text += interval_lines(interval, style);
      style.header = false;
    }
  }
  return text;
}

}  // namespace

Result<std::string> table(const result::Stat& stat, const Style& style) {
  const bool repeated = !stat.events.empty() && stat.events.front().summary.has_value();
  Footnotes notes(style.terminal);
  for (const result::Event& row : stat.events) notes.announce(row.total.count);
  std::string text = stat.roofline ? "\n" + roofline_block(*stat.roofline, style.terminal) : "";
  text +=
      fmt::format("{}\n{}\n", intervals_block(stat, style),
                  repeated ? events_repeated(stat, notes, style.terminal) : events_once(stat, notes, style.terminal));
  if (const std::string below = notes.text(); !below.empty()) text += below + "\n";
  if (const std::string classes = top_down_block(stat, style.terminal); !classes.empty()) text += classes + "\n";
  if (const std::string corrected = corrections_block(stat, style.terminal); !corrected.empty())
    text += corrected + "\n";
  if (const std::string metrics = metrics_block(stat, notes, style.terminal); !metrics.empty()) text += metrics + "\n";
  if (repeated) text += runs_line(stat);
  if (stat.signal) text += fmt::format(" the program was killed by {}\n", signal_name(*stat.signal));
  for (const std::string& notice : stat.notices) text += fmt::format(" note: {}\n", printable(notice));
  std::string blocks = parts_block(stat, style.terminal);
  if (stat.mix) blocks += "\n" + mix_table({{"", *stat.mix}}, style.terminal);
  if (style.per_process || style.per_thread) blocks += processes_block(stat, style, notes);
  blocks += regions_block(stat, style);
  // Each block begins with an empty line.
  if (!blocks.empty()) text += (text.ends_with("\n\n") ? blocks.substr(1) : blocks) + "\n";
  // The last line of every table names the backend.
  text += footer(stat);
  // The result may come from an untrusted file.
  return ForeignText(wrapped_lines(text, style.terminal) + "\n").in_lines();
}

}  // namespace tally::output
