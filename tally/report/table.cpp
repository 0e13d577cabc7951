#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tally/base/text.hpp"
#include "tally/report/format.hpp"
#include "tally/report/grid.hpp"

namespace tally::report {
namespace {

std::string trust_text(const Count& count) {
  std::string text(name(count.trust));
  switch (count.trust) {
    case Trust::exact: return text;
    case Trust::counted: return count.source.empty() ? text : fmt::format("{} by {}", text, count.source);
    case Trust::modelled: return "model " + count.model;
    case Trust::scaled:
      if (const auto percent = running_percent(count)) text += fmt::format(", ran {}", percent_text(*percent));
      if (count.error_percent) text += fmt::format(", ± {}", percent_text(*count.error_percent));
      return text;
    case Trust::partial:
    case Trust::absent: break;
  }
  return count.reason.empty() ? text : fmt::format("{}: {}", text, printable(count.reason));
}

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

std::string events_once(const result::Stat& stat) {
  Grid grid({{"event"}, {"count", Align::right}, {"per"}, {"trust"}});
  for (const result::Event& row : stat.events) {
    grid.add({row.total.name, number(row.total.count.value, row.total.unit), per_text(stat, row.total.name),
              trust_text(row.total.count)});
  }
  return grid.text();
}

std::string events_repeated(const result::Stat& stat) {
  Grid grid({{"event"},
             {"median", Align::right},
             {"low", Align::right},
             {"high", Align::right},
             {"min", Align::right},
             {"max", Align::right},
             {"per"},
             {"trust"}});
  for (const result::Event& row : stat.events) {
    if (!row.summary) continue;
    const Summary& summary = *row.summary;
    const Unit unit = row.total.unit;
    const auto cell = [&](const std::optional<std::int64_t>& value) { return value ? number(value, unit) : ""; };
    grid.add({row.total.name, median_text(row), cell(summary.low), cell(summary.high), cell(summary.min),
              cell(summary.max), per_text(stat, row.total.name), trust_text(row.total.count)});
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

std::string counts_block(const std::vector<result::EventCount>& counts) {
  Grid grid({{""}, {"", Align::right}, {""}});
  for (const result::EventCount& one : counts) {
    grid.add({"  " + one.name, number(one.count.value, one.unit), trust_text(one.count)});
  }
  return grid.text();
}

std::string process_blocks(const result::Stat& stat, Detail detail) {
  std::string text;
  for (std::size_t i = 0; i < stat.runs.size(); ++i) {
    const std::string run = stat.runs_asked > 1 ? fmt::format("run {}, ", i + 1) : "";
    for (const result::Process& process : stat.runs[i].processes) {
      text += fmt::format("\n {}process {} of {}: {}, {}\n", run, process.pid, process.parent_pid,
                          printable(process.command), end_text(process));
      text += counts_block(process.counts);
      if (!detail.per_thread) continue;
      for (const result::Thread& thread : process.threads) {
        text += fmt::format("\n {}process {}, thread {}: {}\n", run, process.pid, thread.tid, printable(thread.name));
        text += counts_block(thread.counts);
      }
    }
  }
  return text;
}

// "3 processes, 5 threads" of a run; empty where the backend cannot tell them apart.
std::string population(const result::Run& run) {
  if (run.processes.empty()) return {};
  std::set<std::int64_t> processes;
  std::set<std::pair<std::int64_t, std::int64_t>> threads;
  for (const result::Process& process : run.processes) {
    processes.insert(process.pid);
    for (const result::Thread& thread : process.threads) threads.emplace(process.pid, thread.tid);
  }
  // A process of which no thread is listed had one at least.
  const std::size_t thread_count = std::max(threads.size(), processes.size());
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
  parts.push_back(people.empty() ? "the program and the children it waited for" : std::move(people));
  if (stat.backend == "none") parts.emplace_back("run natively");
  if (stat.backend == "sim") parts.emplace_back("simulated PMU");
  if (stat.backend == "perf") parts.emplace_back("PMU");
  return fmt::format(" {}\n", join(parts, " · "));
}

}  // namespace

std::string table(const result::Stat& stat, Detail detail) {
  const bool repeated = !stat.events.empty() && stat.events.front().summary.has_value();
  std::string text = fmt::format("\n{}\n", repeated ? events_repeated(stat) : events_once(stat));
  if (repeated) text += runs_line(stat);
  text += footer(stat);
  if (stat.signal) text += fmt::format(" the program was killed by {}\n", signal_name(*stat.signal));
  for (const std::string& notice : stat.notices) text += fmt::format(" note: {}\n", printable(notice));
  if (detail.per_process || detail.per_thread) text += process_blocks(stat, detail);
  return text + "\n";
}

}  // namespace tally::report
