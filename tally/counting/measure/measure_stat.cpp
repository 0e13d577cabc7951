#include "tally/counting/measure/measure_stat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/core/count/correction.hpp"
#include "tally/counting/measure/event_passes.hpp"
#include "tally/counting/measure/measure_regions.hpp"
#include "tally/counting/measure/result_metrics.hpp"
#include "tally/linux/machine/pages.hpp"
#include "tally/linux/process/finishing.hpp"
#include "tally/linux/process/spawn.hpp"
#include "tally/output/result/mix_shares.hpp"

namespace tally::measure {
namespace {

void count_processes(result::Run& run) {
  if (run.processes.empty()) return;
  std::set<std::int64_t> processes;
  std::set<std::pair<std::int64_t, std::int64_t>> threads;
  std::size_t more = 0;
  for (const result::Process& process : run.processes) {
    processes.insert(process.pid);
    if (process.single_stepped) run.single_stepped = run.single_stepped.value_or(0) + *process.single_stepped;
    for (const result::Thread& thread : process.threads) {
      threads.emplace(process.pid, thread.tid);
      more += static_cast<std::size_t>(thread.before);
    }
  }
  run.process_count = static_cast<std::int64_t>(processes.size());
  // A process without listed threads had at least one.
  run.thread_count = static_cast<std::int64_t>(std::max(threads.size() + more, processes.size()));
}

// A program that survived a Ctrl-C and then ended by itself was counted to its end, and so was a service that ended of
// the signal with which services are stopped. Ctrl-C interrupts a measurement.
result::Run run_of(backend::Outcome outcome, std::optional<int> interrupted_by) {
  result::Run run;
  run.complete = outcome.ended && outcome.all_ended;
  if (outcome.ended) {
    const linux::Exit exit = linux::exit_of(outcome.wait_status);
    run.exit_code = exit.code;
    run.signal = exit.signal;
    if (exit.signal == SIGINT && interrupted_by == SIGINT) run.complete = false;
  }
  run.counts = std::move(outcome.counts);
  run.intervals = std::move(outcome.intervals);
  run.parts = std::move(outcome.parts);
  run.processes = std::move(outcome.processes);
  run.regions = std::move(outcome.regions);
  run.nondeterminism = std::move(outcome.nondeterminism);
  run.paths = std::move(outcome.paths);
  count_processes(run);
  return run;
}

result::Event event_row(const std::vector<result::Run>& runs, std::size_t index, bool repeated) {
  result::Event row;
  row.total = runs.front().counts[index];
  if (!repeated) return row;
  std::vector<Count> series;
  for (const result::Run& run : runs) {
    if (run.complete) series.push_back(run.counts[index].count);
  }
  row.summary = summarize(series);
  row.total.count = median_count(*row.summary, series);
  row.total.count.correction = median_correction(series);
  return row;
}

// The counts of a single interrupted run stay, as partial.
void mark_interrupted(std::vector<result::Event>& rows) {
  for (result::Event& row : rows) {
    row.total.count = downgraded(row.total.count, Trust::partial, result::interrupted);
  }
}

void add_notices(std::vector<std::string>& notices, const std::vector<std::string>& more) {
  for (const std::string& notice : more) {
    if (std::find(notices.begin(), notices.end(), notice) == notices.end()) notices.push_back(notice);
  }
}

// Reports why a user who requested corrections sees none.
void add_notice_about_corrections(result::Stat& stat) {
  std::vector<std::string> unchanged;
  bool any = false;
  for (const result::Event& row : stat.events) {
    const auto& correction = row.total.count.correction;
    any = any || correction;
    if (correction && correction->each == 0) unchanged.push_back(row.total.name.text());
  }
  if (!unchanged.empty())
    stat.notices.push_back("page faults add nothing to " + join(unchanged, ", ") + " on this machine (measured)");
  if (!any) {
    stat.notices.emplace_back(
        "--corrections has no effect here: page faults and interrupts add only to instructions and branches that a PMU "
        "counts in user mode");
  }
}

std::string why_incomplete(const result::Stat& stat, int complete) {
  std::string text = "incomplete: ";
  if (stat.runs_asked > 1) text += fmt::format("{} of {} runs were completed; ", complete, stat.runs_asked);
  if (stat.interrupted_by) return text + fmt::format("interrupted by {}", signal_name(*stat.interrupted_by));
  if (stat.exit_code.value_or(0) == 0) return text + "a later run could not be started";
  return text + fmt::format("a run ended with exit code {} (--keep-going continues after such a run)", *stat.exit_code);
}

// Executes a run, given by its number from 0 on.
using Execute = std::function<Result<backend::Outcome>(int)>;

// Adds a run to the result. Returns false if no further run is to follow.
bool add_run(result::Stat& stat, bool& missing, backend::Outcome outcome, const linux::Signals& signals,
             bool keep_going) {
  const int number = static_cast<int>(stat.runs.size()) + 1;
  for (result::Interval& interval : outcome.intervals) interval.run = number;
  add_notices(stat.notices, outcome.notices);
  add_notices(stat.notices, outcome.missing);
  if (stat.failure.empty()) stat.failure = std::move(outcome.failure);
  stat.own_counters = std::move(outcome.own_counters);
  if (stat.unasked.empty()) stat.unasked = std::move(outcome.unasked);
  if (!stat.mix && !outcome.code.events.empty()) stat.mix = result::mix_of(outcome.code);
  missing = missing || !outcome.missing.empty();
  stat.runs.push_back(run_of(std::move(outcome), signals.interrupted_by()));
  // Counts that were not collected because of an interrupt are missing.
  if (linux::finishing_interrupted_by()) stat.runs.back().complete = false;
  const result::Run& run = stat.runs.back();
  if (number == 1 || stat.exit_code == 0) {
    stat.exit_code = run.exit_code;
    stat.signal = run.signal;
  }
  return !signals.interrupted_by() && (run.exit_code == 0 || keep_going);
}

// Reports that the kernel has killed processes of this cgroup since `before` because memory was used up.
void add_notice_about_memory(result::Stat& stat, const std::optional<linux::MemoryKills>& before) {
  const auto now = before ? linux::memory_kills("/", false) : std::nullopt;
  if (!now || now->group != before->group || now->processes <= before->processes) return;
  const auto limited = linux::memory_kills();
  const auto number = static_cast<std::int64_t>(now->processes - before->processes);
  const std::string limit =
      limited && limited->limit_bytes
          ? fmt::format("limited to {} by {}", bytes_text(static_cast<std::int64_t>(*limited->limit_bytes)),
                        limited->limit_file)
          : "not limited, so the machine had none left";
  add_notices(stat.notices,
              {fmt::format("the kernel killed {} for lack of memory in the control group {}, whose memory is {}",
                           plural(number, "process", "processes"), printable(now->group), limit)});
}

// Fails only if there is no run to keep.
Result<void> run_all(result::Stat& stat, bool& missing, const Execute& execute, const linux::Signals& signals,
                     bool keep_going) {
  for (int i = 0; i < stat.runs_asked; ++i) {
    const auto kills = stat.command.empty() ? std::nullopt : linux::memory_kills("/", false);
    auto outcome = execute(i);
    add_notice_about_memory(stat, kills);
    if (!outcome) {
      if (i == 0) return fail(outcome.error());
      stat.notices.push_back(fmt::format("run {} of {}: {}", i + 1, stat.runs_asked, outcome.error().message));
      break;
    }
    if (!add_run(stat, missing, *std::move(outcome), signals, keep_going)) break;
  }
  return {};
}

std::string numbers(const char* one, const char* many, const std::vector<int>& list) {
  std::vector<std::string> texts;
  for (const int number : list) texts.push_back(std::to_string(number));
  return list.empty() ? "" : fmt::format("{} {}", list.size() == 1 ? one : many, join(texts, ", "));
}

std::string words(const backend::Attachment& attachment) {
  std::vector<std::string> parts{numbers("process", "processes", attachment.processes),
                                 numbers("thread", "threads", attachment.threads),
                                 numbers("everything on processor", "everything on processors", attachment.processors)};
  if (!attachment.cgroup.empty()) parts = {"control group " + printable(attachment.cgroup)};
  std::erase(parts, "");
  return join(parts, ", ");
}

result::Stat begin(const backend::Backend& backend, const backend::Order& order, int runs) {
  result::Stat stat;
  stat.command = order.target.command;
  stat.backend = backend.name();
  stat.runs_asked = runs;
  stat.waited_for_all = order.conditions.wait_all;
  stat.processor = order.conditions.processor;
  if (order.conditions.presents_cpu()) stat.cpu_model = order.conditions.cpu_model;
  if (order.conditions.counts_clock()) stat.clock = order.conditions.clock;
  if (order.conditions.fixes_environment()) stat.program_environment = order.conditions.environment;
  stat.machine_model = backend.traits().simulates;
  stat.target = words(order.target.attachment);
  return stat;
}

// Returns how many runs were complete.
int add_rows(result::Stat& stat, const backend::Order& order, const linux::Signals& signals) {
  stat.interrupted_by = signals.interrupted_by();
  const auto complete = std::count_if(stat.runs.begin(), stat.runs.end(), [](const auto& run) { return run.complete; });
  stat.incomplete = complete < stat.runs_asked;
  // A single run, or none complete of several: its own counts are the result.
  const bool repeated = stat.runs_asked > 1 && complete > 0;
  for (std::size_t i = 0; i < order.events.size(); ++i) stat.events.push_back(event_row(stat.runs, i, repeated));
  if (complete == 0) mark_interrupted(stat.events);
  return static_cast<int>(complete);
}

void end(result::Stat& stat, int complete, bool missing) {
  if (stat.incomplete) stat.notices.push_back(why_incomplete(stat, complete));
  stat.incomplete = stat.incomplete || missing;
}

// Measures a single run without passes.
Result<result::Stat> measure_once(result::Stat stat, const backend::Order& order, const Execute& execute,
                                  linux::Signals& signals) {
  bool missing = false;
  const auto ran = run_all(stat, missing, execute, signals, false);
  signals.settle();
  if (!ran) return fail(ran.error());
  const int complete = add_rows(stat, order, signals);
  end(stat, complete, missing);
  return stat;
}

}  // namespace

Result<result::Stat> stat(backend::Backend& backend, const StatOptions& options, linux::Signals& signals) {
  const backend::Order::Count& count = *options.count();
  result::Stat stat = begin(backend, options, options.runs);
  stat.of_parts = !options.code_regions().empty();
  if (options.runs > 1 && !options.input.stream().empty()) {
    stat.notices.push_back(fmt::format(
        "standard input is {}: a later run does not get the data that an earlier one read (each run reads a "
        "regular file from its start)",
        options.input.stream()));
  }
  bool missing = false;  // a requested part was not found
  Passes passes{options.passes, options.make_room};
  backend::Order order = options;
  order.conditions.signals = &signals;
  const auto execute = [&](int number) {
    order.count()->timing.on_interval = [&count, number](result::Interval interval) {
      interval.run = number + 1;
      if (count.timing.on_interval) count.timing.on_interval(interval);
    };
    return run_passes(backend, order, passes, options.input);
  };
  if (const auto ran = run_all(stat, missing, execute, signals, options.keep_going); !ran) return fail(ran.error());
  for (const event::Pass& pass : passes.passes) {
    stat.passes.emplace_back();
    for (const std::size_t place : pass) stat.passes.back().push_back(event::name(options.events[place]));
  }
  const int complete = add_rows(stat, options, signals);
  stat.metrics = metrics(options, stat, options.runs > 1 && complete > 0);
  if (count.processes && stat.runs.front().processes.empty())
    stat.notices.emplace_back("a native run cannot count processes separately: only their sum is known");
  if (count.mix && count.timing.is_partial())
    stat.notices.emplace_back("the mix is that of the whole run, not of the counted time");
  if (count.mix && stat.of_parts)
    stat.notices.emplace_back("the mix is that of the whole program: `tally profile --mix` has that of each function");
  if (count.count_interrupts) add_notice_about_corrections(stat);
  end(stat, complete, missing);
  return stat;
}

Result<result::Stat> sample(backend::Backend& backend, const backend::Order& order, linux::Signals& signals) {
  backend::Order own = order;
  own.conditions.signals = &signals;
  return measure_once(
      begin(backend, own, 1), own, [&](int) { return run_with_regions(backend, own); }, signals);
}

Result<result::Stat> profile(backend::Backend& backend, const backend::Order& order, result::CodeCounts& code,
                             linux::Signals& signals) {
  backend::Order own = order;
  own.conditions.signals = &signals;
  auto stat = measure_once(
      begin(backend, own, 1), own,
      [&](int) {
        auto outcome = run_with_regions(backend, own);
        if (outcome) code = std::move(outcome->code);
        return outcome;
      },
      signals);
  if (stat && order.has_mix()) stat->mix = result::mix_of(code);
  return stat;
}

}  // namespace tally::measure
