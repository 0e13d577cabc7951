#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "tally/base/text.hpp"
#include "tally/report/footnotes.hpp"
#include "tally/report/format.hpp"
#include "tally/report/grid.hpp"

namespace tally::report {
namespace {

std::string number(const std::optional<std::int64_t>& value, Unit unit) {
  return value ? value_text(*value, unit) : "-";
}

// A name without its mode, as it reads in "of branches".
std::string bare(const std::string& event) { return event.substr(0, event.find(':')); }

std::string per_text(const result::Stat& stat, const std::string& event) {
  const auto metric = std::find_if(stat.metrics.begin(), stat.metrics.end(),
                                   [&](const result::Metric& one) { return one.event == event; });
  if (metric == stat.metrics.end() || !metric->ratio.value) return {};
  if (metric->share) return fmt::format("{} of {}", percent_text(*metric->ratio.value * 100), bare(metric->per));
  std::string one = bare(metric->per);
  if (one.ends_with('s')) one.pop_back();
  return fmt::format("{:.3f} per {}", *metric->ratio.value, one);
}

std::string median_text(const result::Event& row) {
  const std::optional<double>& median = row.summary->median;
  std::string text = number(row.total.count.value, row.total.unit);
  // The count is the median rounded down; the other half is shown, so that the table says what the file says.
  const bool is_half = median && *median != static_cast<double>(static_cast<std::int64_t>(*median));
  return is_half && row.total.unit == Unit::events ? text + ".5" : text;
}

// How far the values of a series lie from its median, at most.
std::string spread_text(const Summary& summary) {
  if (summary.n < 2 || !summary.median || !summary.min || !summary.max) return {};
  const double above = static_cast<double>(*summary.max) - *summary.median;
  const double farthest = std::max(above, *summary.median - static_cast<double>(*summary.min));
  if (farthest == 0) return "± 0";
  return *summary.median == 0 ? "" : "± " + percent_text(farthest / std::abs(*summary.median) * 100);
}

std::string events_once(const result::Stat& stat, Footnotes& notes) {
  Grid grid({{"event"}, {"count", Align::right}, {"per"}, {"trust"}});
  for (const result::Event& row : stat.events) {
    grid.add({row.total.name, number(row.total.count.value, row.total.unit), per_text(stat, row.total.name),
              notes.cell(row.total.count)});
  }
  return grid.text();
}

std::string events_repeated(const result::Stat& stat, Footnotes& notes) {
  Grid grid({{"event"},
             {"median", Align::right},
             {"low", Align::right},
             {"high", Align::right},
             {"min", Align::right},
             {"max", Align::right},
             {"spread"},
             {"per"},
             {"trust"}});
  for (const result::Event& row : stat.events) {
    if (!row.summary) continue;
    const Summary& summary = *row.summary;
    const Unit unit = row.total.unit;
    const auto cell = [&](const std::optional<std::int64_t>& value) { return value ? number(value, unit) : ""; };
    grid.add({row.total.name, median_text(row), cell(summary.low), cell(summary.high), cell(summary.min),
              cell(summary.max), spread_text(summary), per_text(stat, row.total.name), notes.cell(row.total.count)});
  }
  return grid.text();
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
    return fmt::format(" {} · no interval of the median: that needs {} runs\n", runs, fewest_for_interval);
  }
  return {};
}

std::string end_text(const result::Process& process) {
  switch (process.end) {
    case result::End::exited: return fmt::format("exit {}", process.end_code);
    case result::End::signalled: return "killed by " + signal_name(process.end_code);
    case result::End::executed: return "went on as another program";
    case result::End::running: return "still running";
    case result::End::unknown: break;
  }
  return "end unknown";
}

using Counts = std::vector<result::EventCount>;

// The counts of every process, and of every thread where asked, in the order of their blocks.
std::vector<const Counts*> blocks_of(const result::Stat& stat, Detail detail) {
  std::vector<const Counts*> blocks;
  for (const result::Run& run : stat.runs) {
    for (const result::Process& process : run.processes) {
      blocks.push_back(&process.counts);
      if (!detail.per_thread) continue;
      for (const result::Thread& thread : process.threads) blocks.push_back(&thread.counts);
    }
  }
  return blocks;
}

// Reasons for which an event is absent from every block alike: event → reason. They are said once, below all blocks.
std::map<std::string, std::string> absent_everywhere(const std::vector<const Counts*>& blocks) {
  std::map<std::string, std::string> absent;
  if (blocks.empty()) return absent;
  for (const result::EventCount& one : *blocks.front()) {
    const bool everywhere = std::all_of(blocks.begin(), blocks.end(), [&](const Counts* block) {
      return std::any_of(block->begin(), block->end(), [&](const result::EventCount& other) {
        return other.name == one.name && other.count.trust == Trust::absent && other.count.reason == one.count.reason;
      });
    });
    if (everywhere) absent[one.name] = one.count.reason;
  }
  return absent;
}

std::string absent_text(const Counts& order, const std::map<std::string, std::string>& absent) {
  std::map<std::string, std::vector<std::string>> events;
  for (const result::EventCount& one : order) {
    if (const auto found = absent.find(one.name); found != absent.end()) events[found->second].push_back(one.name);
  }
  std::string text;
  for (const auto& [reason, names] : events) {
    text += fmt::format("\n absent by process: {} ({})\n", join(names, ", "), printable(reason));
  }
  return text;
}

std::string counts_block(const Counts& counts, const std::map<std::string, std::string>& absent, Footnotes& notes) {
  Grid grid({{""}, {"", Align::right}, {""}});
  for (const result::EventCount& one : counts) {
    if (absent.contains(one.name)) continue;
    grid.add({"  " + one.name, number(one.count.value, one.unit), notes.cell(one.count)});
  }
  return grid.text();
}

std::string process_blocks(const result::Stat& stat, Detail detail, Footnotes& notes) {
  const std::vector<const Counts*> blocks = blocks_of(stat, detail);
  if (blocks.empty()) return {};
  const auto absent = absent_everywhere(blocks);
  for (const Counts* block : blocks) {
    for (const result::EventCount& one : *block) notes.announce(one.count);
  }
  std::string text;
  for (std::size_t i = 0; i < stat.runs.size(); ++i) {
    const std::string run = stat.runs_asked > 1 ? fmt::format("run {}, ", i + 1) : "";
    for (const result::Process& process : stat.runs[i].processes) {
      text += fmt::format("\n {}process {} of {}: {}, {}\n", run, process.pid, process.parent_pid,
                          printable(process.command), end_text(process));
      text += counts_block(process.counts, absent, notes);
      if (!detail.per_thread) continue;
      for (const result::Thread& thread : process.threads) {
        text += fmt::format("\n {}process {}, thread {}: {}\n", run, process.pid, thread.tid, printable(thread.name));
        text += counts_block(thread.counts, absent, notes);
      }
    }
  }
  text += absent_text(*blocks.front(), absent);
  if (const std::string below = notes.text(); !below.empty()) text += "\n" + below;
  return text;
}

// "3 processes, 5 threads" of a run; empty where the backend cannot tell them apart.
std::string population(const result::Run& run) {
  if (run.processes.empty()) return {};
  std::set<std::int64_t> processes;
  std::set<std::pair<std::int64_t, std::int64_t>> threads;
  std::size_t more = 0;
  for (const result::Process& process : run.processes) {
    processes.insert(process.pid);
    for (const result::Thread& thread : process.threads) {
      threads.emplace(process.pid, thread.tid);
      more += static_cast<std::size_t>(thread.before);
    }
  }
  // A process of which no thread is listed had one at least.
  const std::size_t thread_count = std::max(threads.size() + more, processes.size());
  return fmt::format("{}, {}", plural(static_cast<std::int64_t>(processes.size()), "process", "processes"),
                     plural(static_cast<std::int64_t>(thread_count), "thread", "threads"));
}

std::string footer(const result::Stat& stat) {
  std::vector<std::string> parts;
  const bool any_user = std::any_of(stat.events.begin(), stat.events.end(), [](const result::Event& row) {
    return row.total.count.value && row.total.name.ends_with(":u");
  });
  if (any_user) parts.emplace_back("user mode only");
  std::string people = stat.runs.empty() ? "" : population(stat.runs.back());
  parts.push_back(people.empty() ? stat.waited_for_all ? "the program and its descendants"
                                                       : "the program and the children it waited for"
                                 : std::move(people));
  if (stat.backend == "none") parts.emplace_back("run natively");
  if (stat.backend == "sim") parts.emplace_back("simulated PMU");
  if (stat.backend == "perf") parts.emplace_back("PMU");
  return fmt::format(" {}\n", join(parts, " · "));
}

}  // namespace

std::string table(const result::Stat& stat, Detail detail) {
  const bool repeated = !stat.events.empty() && stat.events.front().summary.has_value();
  Footnotes notes;
  for (const result::Event& row : stat.events) notes.announce(row.total.count);
  std::string text = fmt::format("\n{}\n", repeated ? events_repeated(stat, notes) : events_once(stat, notes));
  if (const std::string below = notes.text(); !below.empty()) text += below + "\n";
  if (repeated) text += runs_line(stat);
  text += footer(stat);
  if (stat.signal) text += fmt::format(" the program was killed by {}\n", signal_name(*stat.signal));
  for (const std::string& notice : stat.notices) text += fmt::format(" note: {}\n", printable(notice));
  if (detail.per_process || detail.per_thread) text += process_blocks(stat, detail, notes);
  return text + "\n";
}

}  // namespace tally::report
