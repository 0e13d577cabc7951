#include "tally/tools/why/native_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tally/core/base/text.hpp"
#include "tally/core/count/region_reasons.hpp"
#include "tally/counting/backend/choose/choose_backend.hpp"
#include "tally/counting/backend/software.hpp"
#include "tally/counting/measure/result_metrics.hpp"
#include "tally/engine/machines/machine_model.hpp"
#include "tally/linux/process/conditions.hpp"
#include "tally/linux/process/disturbance.hpp"
#include "tally/linux/process/parallel_job.hpp"
#include "tally/linux/process/start_state.hpp"
#include "tally/tools/command/option_groups.hpp"
#include "tally/tools/why/time_split.hpp"

namespace tally::why {
namespace {

constexpr Nanoseconds enough_time = std::chrono::milliseconds(200);
constexpr Nanoseconds start_of_process = std::chrono::milliseconds(1);
constexpr Nanoseconds shortest_run = 7 * start_of_process;
constexpr double noticeable = 0.01;  // share of cycles
constexpr const char* from_native_run = "from a native run";

std::vector<std::size_t> software_indexes(const std::vector<event::Event>& events) {
  std::vector<std::size_t> indexes;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (event::definition(events[i].id).kind == event::Kind::software) indexes.push_back(i);
  }
  return indexes;
}

measure::StatOptions native_options(const measure::StatOptions& options, const std::vector<std::size_t>& indexes) {
  measure::StatOptions native;
  native.target = options.target;
  native.conditions = options.conditions;
  for (const std::size_t index : indexes) native.events.push_back(options.events[index]);
  native.input = options.input;
  native.runs = options.runs;
  native.keep_going = options.keep_going;
  return native;
}

void mark(result::EventCount& count) {
  if (count.count.trust == Trust::estimated) return;  // only native runs have estimates
  std::string& reason = count.count.reason;
  reason = reason.empty() ? from_native_run : fmt::format("{}; {}", reason, from_native_run);
}

// Why the counts of the native runs are not used; empty if they are.
std::string why_not(const result::Stat& stat, const Result<result::Stat>& native, int runs) {
  if (!native) return native.error().message;
  if (native->interrupted_by) return "it was interrupted";
  if (native->exit_code != stat.exit_code) {
    const auto text = [](std::optional<int> code) {
      return code ? fmt::format("exit code {}", *code) : "no exit code";
    };
    return fmt::format("it ended with {}, the run under the engine with {}", text(native->exit_code),
                       text(stat.exit_code));
  }
  return native->incomplete || std::ssize(native->runs) != runs ? "it is incomplete" : "";
}

using Times = std::vector<ProcessorTime>;

/// Indexes of events of the native runs.
struct Rows {
  explicit Rows(const std::vector<event::Event>& events)
      : user(index_of(event::Id::user_time, events)),
        system(index_of(event::Id::system_time, events)),
        duration(index_of(event::Id::duration_time, events)),
        cycles(index_of(event::Id::core_cycles_estimate, events)) {}

  static std::size_t index_of(event::Id id, const std::vector<event::Event>& events) {
    const auto event =
        std::find_if(events.begin(), events.end(), [id](const event::Event& other) { return other.id == id; });
    return static_cast<std::size_t>(event - events.begin());
  }

  std::size_t user, system, duration, cycles;
};

Times times_of(const result::Stat& native, const Rows& rows) {
  Times times;
  for (const result::Run& run : native.runs)
    times.push_back({Nanoseconds(run.counts[rows.user].count.value.value_or(0)),
                     Nanoseconds(run.counts[rows.system].count.value.value_or(0))});
  return times;
}

ProcessorTime mean_of(const Times& times) {
  ProcessorTime mean;
  mean.shortest = Nanoseconds::max();
  for (const ProcessorTime& time : times) {
    mean.shortest = std::min(mean.shortest, time.sum());
    mean.longest = std::max(mean.longest, time.sum());
    mean.user += time.user;
    mean.system += time.system;
  }
  mean.runs = static_cast<int>(times.size());
  mean.user /= mean.runs;
  mean.system /= mean.runs;
  return mean;
}

bool has_one_thread(const result::Stat& stat) {
  return std::all_of(stat.runs.begin(), stat.runs.end(),
                     [](const result::Run& run) { return run.process_count == 1 && run.thread_count == 1; });
}

// Runs a short command as often as it needs for 0.2 s, if that takes at most 10 s. Its output is discarded.
void repeat(const measure::StatOptions& options, const Rows& rows, const result::Stat& native,
            backend::Backend& backend, Times& times, linux::Signals& signals) {
  Nanoseconds left = std::chrono::seconds(10);
  const Nanoseconds duration(native.runs.front().counts[rows.duration].count.value.value_or(0));
  // Several times, because the next runs may be shorter.
  for (int round = 0; round < 3; ++round) {
    const Nanoseconds time = mean_of(times).sum();
    if (time >= enough_time || time < shortest_run) return;
    const auto runs = enough_time * 11 / 10 / time + 1 - std::ssize(times);
    if (time * std::ssize(times) >= enough_time || runs * duration > left) return;
    left -= runs * duration;
    measure::StatOptions more = options;
    more.runs = static_cast<int>(runs);
    const auto held = linux::OtherStartState::hold(linux::start_state());
    if (!held) return;
    const auto repeated = measure::stat(backend, more, signals);
    if (!why_not(native, repeated, more.runs).empty()) return;
    const Times also = times_of(*repeated, rows);
    times.insert(times.end(), also.begin(), also.end());
  }
}

void set_count(result::Stat& native, std::size_t run, std::size_t index, Count count) {
  native.runs[run].counts[index].count = count;
  if (native.runs.size() == 1) native.events[index].total.count = std::move(count);
}

// The median of the runs.
void summarize_row(result::Stat& native, std::size_t index) {
  if (native.runs.size() == 1) return;
  std::vector<Count> series;
  for (const result::Run& run : native.runs) series.push_back(run.counts[index].count);
  result::Event& row = native.events[index];
  row.summary = summarize(series);
  row.total.count = median_count(*row.summary, series);
  row.total.count.error_percent = series.front().error_percent;
}

// `stolen`: by the hypervisor during all runs. `split`: of the time, if it is not too short.
void add_estimate(result::Stat& native, const Rows& rows, Times times, Nanoseconds stolen,
                  const std::optional<linux::MeasuredFrequency>& frequency, const std::optional<TimeSplit>& split) {
  ProcessorTime mean = mean_of(times);
  mean.stolen = stolen;
  const Nanoseconds all = mean.sum() * mean.runs;
  for (ProcessorTime& time : times) {
    time.stolen = stolen / mean.runs;
    time.others = all - time.sum();
  }
  const bool is_pooled = times.size() > native.runs.size();
  for (std::size_t run = 0; run < native.runs.size(); ++run) {
    const ProcessorTime& time = is_pooled ? mean : times[run];
    set_count(native, run, rows.cycles, estimated_cycles(time, frequency));
    if (!split) continue;
    const std::string basis = is_pooled ? fmt::format("mean of {} native runs, ", mean.runs) : "";
    set_count(native, run, rows.user, part_of(time.sum(), *split, true, basis));
    set_count(native, run, rows.system, part_of(time.sum(), *split, false, basis));
  }
  for (const std::size_t row : {rows.cycles, rows.user, rows.system}) summarize_row(native, row);
}

// What the hypervisor took from processors since the machine started.
Nanoseconds stolen_time(const std::vector<int>& processors) {
  constexpr auto tick = std::chrono::milliseconds(10);  // USER_HZ of proc(5)
  const linux::Watch watch;
  Nanoseconds time{0};
  for (const int processor : processors) time += watch.stolen_ticks(processor) * tick;
  return time;
}

// The split of the times, if there are enough of them for an estimate of cycles.
std::optional<TimeSplit> split_times(const Times& times, const measure::StatOptions& options, linux::Signals& signals) {
  const ProcessorTime mean = mean_of(times);
  if (mean.sum() < shortest_run || mean.sum() * mean.runs < enough_time) return std::nullopt;
  if (auto sampled = sampled_split(options, signals)) return sampled;
  return split_of_ticks(mean.user * mean.runs, mean.system * mean.runs);
}

// Runs the command natively, as `counted` was run under the engine: with the times of `options`, and the estimated
// cycles. `splits`: samples another run to divide user and system time. Errors: the native run cannot be used.
Result<result::Stat> run_natively(const result::Stat& counted, measure::StatOptions options,
                                  const linux::HostMachine& machine, linux::Signals& signals, bool splits) {
  if (counted.interrupted_by || counted.incomplete)
    return fail(Code::cannot_measure, "no native run was made, because the run under the engine is incomplete", "");
  const Rows rows(options.events);
  std::vector<int> processors;
  if (!options.conditions.processor && has_one_thread(counted))
    options.conditions.processor = linux::quietest_processor();
  if (options.conditions.processor) {
    processors.push_back(*options.conditions.processor);
  } else if (auto all = linux::processors("")) {
    processors = *std::move(all);
  }
  auto choice = backend::choose("none", options, machine);
  linux::FrequencyWatch watch(processors);
  const Nanoseconds stolen_before = stolen_time(processors);
  auto native = choice ? measure::stat(*choice->backend, options, signals) : Result<result::Stat>(fail(choice.error()));
  if (const std::string why = why_not(counted, native, options.runs); !why.empty())
    return fail(Code::cannot_measure, "the native run is not used: " + why, "");
  Times times = times_of(*native, rows);
  repeat(options, rows, *native, *choice->backend, times, signals);
  const Nanoseconds stolen = stolen_time(processors) - stolen_before;
  const auto frequency = watch.stop();
  const auto split = splits ? split_times(times, options, signals) : std::nullopt;
  add_estimate(*native, rows, std::move(times), stolen, frequency, split);
  return native;
}

std::size_t cycles_index(const std::vector<event::Event>& events) {
  const auto cycles = std::find_if(events.begin(), events.end(), [](const event::Event& event) {
    return event.id == event::Id::cycles && event.mode == event::Mode::user;
  });
  return static_cast<std::size_t>(cycles - events.begin());
}

}  // namespace

void add_native_option(command::Page& page, bool& native, const char* use) {
  page.add_flag("--native", native, fmt::format("with the engine: run the program again, natively, and {}", use));
}

void add_roofline_option(command::Page& page, bool& roofline) {
  const command::GroupScope group(page, command::models_group);
  page.add_flag("--roofline", roofline,
                "compare the program, and its functions (with `tally stat` those of --function), with the ceilings of "
                "this machine (tally memory ceilings): count operations and bytes with the engine, divide the bytes "
                "among caches by a "
                "model, and run the program again, natively, for its time");
}

std::string native_metrics(const std::vector<event::Event>& events) {
  return cycles_index(events) < events.size() ? "estimated-IPC,estimated-GHz,model-error"
                                              : "estimated-IPC,estimated-GHz";
}

Result<void> check_native(const measure::StatOptions& options, const backend::Backend& backend,
                          const std::string& option) {
  const auto refused = [&](const std::string& message, const std::string& hint) {
    return fail(Code::bad_usage, option + message, hint);
  };
  if (options.target.attachment.any())
    return refused(" cannot be used with running processes: it runs the command again", "use it with a command");
  if (options.timing().any())
    return refused(" cannot be used with -I, --delay and --timeout: a native run is elsewhere at that time",
                   "omit one of the two");
  if (!backend.traits().is_engine)
    return refused(": the program already runs natively, without the engine", "omit " + option);
  if (options.conditions.pmu)
    return refused(" cannot be used with --pmu: the program has no such counters in the native run",
                   "omit one of the two");
  if (linux::is_started_by_mpi())
    return refused(": a rank cannot run again, because MPI starts the ranks of a job only once",
                   "on one machine put tally before mpirun, as in `tally stat --native -M GFLOPS -o job.json -- mpirun "
                   "-n 4 ./prog`; on several, run a second job of `tally stat --backend none -e task-clock`: `tally "
                   "report --ranks` takes the files of both");
  if (!options.input.stream().empty())
    return refused(fmt::format(": standard input is {}, so the native run would read nothing", options.input.stream()),
                   "use a file instead");
  return {};
}

Count estimated_cycles(const ProcessorTime& time, const std::optional<linux::MeasuredFrequency>& frequency) {
  // Of loops of known cycles. Below the estimate also by other hardware threads of the core, which slow some programs.
  constexpr double unmeasured_percent = 2.5;
  constexpr double unmeasured_below_percent = 4;
  constexpr double most_percent = 20;
  if (!frequency) return absent("the frequency cannot be measured here");
  using Seconds = std::chrono::duration<double>;
  const double seconds = Seconds(time.sum()).count();
  const std::string of_runs = time.runs > 1 ? fmt::format("mean of {} runs of {:.4g} to {:.4g} s: ", time.runs,
                                                          Seconds(time.shortest).count(), Seconds(time.longest).count())
                                            : "";
  const std::string used = fmt::format("{}{:.4g} s", of_runs, seconds);
  if (time.sum() < shortest_run)
    return absent(fmt::format(
        "{} of processor time is too short: the start of a process takes some 1 ms; measure more work", used));
  if (time.sum() * time.runs + time.others < enough_time)
    return absent(fmt::format(
        "{} of processor time is too short: it needs 0.2 s, in runs of at most 10 s together; measure more work",
        used));
  const double start_percent = 100 * Seconds(start_of_process).count() / seconds;
  const double above = unmeasured_percent + 100 * frequency->error;
  const double stolen = Seconds(time.stolen) / time.sum() / time.runs;
  const double below = unmeasured_below_percent + 100 * frequency->error + start_percent + 100 * stolen;
  if (below > most_percent)
    return absent(
        fmt::format("the frequency was {:.2f} to {:.2f} GHz, and the hypervisor took {}: the error could exceed {} %",
                    frequency->low / 1e9, frequency->high / 1e9, percent_text(100 * stolen), most_percent));
  // The middle of the interval.
  const double value = seconds * frequency->charged_hertz() * (1 + (above - below) / 200);
  Count count;
  count.value = std::llround(value);
  count.trust = Trust::estimated;
  count.source = Source::wait4;
  count.error_percent = (above + below) / 2 / (1 + (above - below) / 200);
  count.reason =
      fmt::format("{} × {:.2f} GHz, less {} for interrupts, switches and the start, natively, in user and kernel mode",
                  used, frequency->hertz / 1e9, percent_text(100 * (1 - value / (seconds * frequency->hertz))));
  if (stolen >= noticeable)
    count.reason += fmt::format("; the hypervisor took the processor for {} of it", percent_text(100 * stolen));
  if (frequency->shared >= noticeable)
    count.reason +=
        fmt::format("; another thread on this core may have added up to {}", percent_text(100 * frequency->shared));
  return count;
}

void replace_counts(result::Stat& stat, const std::vector<std::size_t>& indexes, const result::Stat& native) {
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    result::Event& row = stat.events[indexes[i]];
    row = native.events[i];
    mark(row.total);
    for (std::size_t run = 0; run < stat.runs.size(); ++run) {
      result::EventCount& count = stat.runs[run].counts[indexes[i]];
      count = native.runs[run].counts[i];
      mark(count);
    }
  }
}

bool models_another_core(const std::optional<backend::Simulation>& simulation) {
  if (!simulation) return false;  // the default, `host`
  const auto host = machines::named("host", "/");
  return !host || host->core != simulation->machine.core;
}

// A model that is far off describes another program: say so instead of leaving it to the reader. `error`: of the
// cycles, as compared with the estimate.
void warn_of_model(result::Stat& stat, double error, const std::optional<backend::Simulation>& simulation,
                   const char* hint) {
  constexpr double far_off = 1.25;  // of the native cycles, or the inverse
  if (models_another_core(simulation)) {
    stat.notices.push_back(
        fmt::format("cycles are those of another core ({}), core-cycles-estimate of this one: their "
                    "difference is not the model's error",
                    simulation->machine.core));
  } else if (1 + error > far_off || (1 + error) * far_off < 1) {
    stat.notices.push_back(
        fmt::format("the model is wrong by {:+.0f} % for this program: use core-cycles-estimate, not cycles or their "
                    "causes{}",
                    100 * error, hint));
  }
}

// The reasons of the counts and metrics that need times ask for --native, which was given: the reason is `why`.
void explain_missing_times(result::Stat& stat, const std::vector<std::size_t>& indexes, const std::string& why) {
  stat.notices.push_back(why);
  const auto explain = [&](std::string& reason) {
    for (const std::string_view asks : {backend::without_native_run, backend::slower_under_engine})
      if (const std::size_t at = reason.find(asks); at != std::string::npos) reason.replace(at, asks.size(), why);
  };
  for (const std::size_t index : indexes) {
    explain(stat.events[index].total.count.reason);
    for (result::Run& run : stat.runs) explain(run.counts[index].count.reason);
  }
  for (result::Run& run : stat.runs)
    for (result::ProgramRegions& program : run.regions)
      for (RegionResult& region : program.regions)
        for (RegionMetric& metric : region.all.metrics)
          if (metric.ratio.reason == without_native_time) metric.ratio.reason = why;
}

bool add_native_runs(result::Stat& stat, const measure::StatOptions& options, const linux::HostMachine& machine,
                     linux::Signals& signals, const std::optional<backend::Simulation>& simulation,
                     std::vector<result::Run>* runs) {
  const std::vector<std::size_t> indexes = software_indexes(options.events);
  measure::StatOptions own = native_options(options, indexes);
  if (Rows(own.events).duration == own.events.size()) own.events.push_back(*event::parse("duration_time"));
  if (runs != nullptr) own.events.push_back(*event::parse("task-clock"));
  auto native = run_natively(stat, std::move(own), machine, signals, true);
  if (!native) {
    explain_missing_times(stat, indexes, native.error().message);
    stat.metrics = measure::metrics(options, stat, stat.runs_asked > 1);
    return false;
  }
  replace_counts(stat, indexes, *native);
  if (runs != nullptr) *runs = std::move(native->runs);
  stat.metrics = measure::metrics(options, stat, stat.runs_asked > 1);
  const auto error = std::find_if(stat.metrics.begin(), stat.metrics.end(),
                                  [](const result::Metric& metric) { return metric.name == "model-error"; });
  if (error == stat.metrics.end() || !error->ratio.value) return true;
  warn_of_model(stat, *error->ratio.value, simulation,
                "; `tally profile --native` divides it among functions by samples");
  if (models_another_core(simulation)) stat.metrics.erase(error);
  return true;
}

Result<void> check_native_profile(const measure::StatOptions& options, const backend::Backend& backend) {
  if (const auto fits = check_native(options, backend); !fits) return fits;
  if (cycles_index(options.events) < options.events.size()) return {};
  return fail(Code::bad_usage, "--native estimates cycles, and the profile has none", "add `-e cycles`");
}

Result<result::Stat> native_times(const result::Stat& counted, const measure::StatOptions& options,
                                  const linux::HostMachine& machine, linux::Signals& signals) {
  measure::StatOptions own = native_options(options, {});
  own.events = *event::parse_lists({"user_time,system_time,duration_time,core-cycles-estimate"});
  return run_natively(counted, std::move(own), machine, signals, false);
}

double add_native_cycles(result::CodeCounts& code, result::Stat& stat, const measure::StatOptions& options,
                         const linux::HostMachine& machine, linux::Signals& signals,
                         const std::optional<backend::Simulation>& simulation) {
  const auto native = native_times(stat, options, machine, signals);
  if (!native) {
    stat.notices.push_back(native.error().message);
    return 0;
  }
  const std::vector<result::EventCount>& counts = native->runs.front().counts;
  result::EventCount estimate = counts.back();
  mark(estimate);
  const std::size_t cycles = cycles_index(options.events);
  add_scaled_event(code, stat, cycles, estimate);
  const auto user = static_cast<double>(counts[0].count.value.value_or(0)),
             system = static_cast<double>(counts[1].count.value.value_or(0));
  const double kernel_share = system > 0 ? system / (user + system) : 0;
  const auto modelled = stat.events[cycles].total.count.value, estimated = estimate.count.value;
  if (modelled && estimated && kernel_share < 1)
    warn_of_model(stat, static_cast<double>(*modelled) / (static_cast<double>(*estimated) * (1 - kernel_share)) - 1,
                  simulation, "");
  return kernel_share;
}

void add_scaled_event(result::CodeCounts& code, result::Stat& stat, std::size_t index,
                      const result::EventCount& estimate) {
  const std::size_t width = code.events.size();
  double whole = static_cast<double>(code.repeated[index]) + static_cast<double>(code.unplaced[index]);
  for (std::size_t i = index; i < code.counts.size(); i += width) whole += static_cast<double>(code.counts[i]);
  result::EventCount added = estimate;
  if (added.count.value && whole <= 0) added.count = absent("it cannot be divided, because no cycles were modelled");
  const double factor = added.count.value ? static_cast<double>(*added.count.value) / whole : 0;
  // Rounds sums instead of counts, so that all rows together have the total.
  const auto add_column = [&](std::vector<std::int64_t>& counts, double& sum) {
    std::vector<std::int64_t> wider;
    wider.reserve(counts.size() / width * (width + 1));
    for (std::size_t i = 0; i < counts.size(); i += width) {
      wider.insert(wider.end(), counts.begin() + static_cast<std::ptrdiff_t>(i),
                   counts.begin() + static_cast<std::ptrdiff_t>(i + width));
      const auto before = std::llround(sum * factor);
      sum += static_cast<double>(counts[i + index]);
      wider.push_back(std::llround(sum * factor) - before);
    }
    counts = std::move(wider);
  };
  double sum = 0;
  for (auto* const counts : {&code.counts, &code.repeated, &code.unplaced}) add_column(*counts, sum);
  for (result::PythonFunction& function : code.python)
    for (auto* const counts : {&function.self, &function.inclusive}) add_column(*counts, sum = 0);
  code.events.push_back(added);
  stat.runs.front().counts.push_back(added);
  stat.events.push_back({std::move(added), {}});
}

}  // namespace tally::why
