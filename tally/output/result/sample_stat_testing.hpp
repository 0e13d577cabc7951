// Results for tests of formats, without a measurement.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tally/output/result/stat_result.hpp"

namespace tally::output {

inline result::Event row(const std::string& name, Count count, Unit unit = Unit::events) {
  result::Event event;
  const EventName parts = split_event_name(name);
  event.total = {parts.base, parts, unit, std::move(count)};
  return event;
}

inline Count modelled(std::int64_t value) {
  Count count = exact(value, Source::engine);
  count.trust = Trust::modelled;
  count.model = "gshare";
  return count;
}

inline result::Metric metric(const std::string& name, const std::string& formula, const std::string& unit,
                             double value) {
  result::Metric metric;
  metric.name = name;
  metric.formula = formula;
  metric.unit = unit;
  metric.ratio = {value, Trust::exact, "", ""};
  return metric;
}

// One row for every trust.
inline result::Stat sample() {
  result::Stat stat;
  stat.command = {"bzip2", "-k", "linux.tar"};
  stat.exit_code = 0;
  stat.backend = "engine";
  stat.events = {row("instructions:u", exact(2'501'138'701, Source::engine)),
                 row("branches:u", exact(427'054'451, Source::engine)),
                 row("loads:u", exact(702'114'020, Source::engine)),
                 row("branch-misses:u", modelled(21'113'040)),
                 row("cycles:u", from_reading({100, Nanoseconds{8}, Nanoseconds{2}}, CountSource::pmu("cpu"))),
                 row("page-faults", partial(1'204, Source::wait4, "includes the engine's")),
                 row("stores:k", absent("user mode only")),
                 row("peak-memory", counted(13'002'342, Source::wait4), Unit::bytes),
                 row("duration_time", counted(7'190'000'000, Source::clock), Unit::nanoseconds)};
  stat.metrics = {metric("branches/instructions", "branches:u / instructions:u", "share", 0.17074),
                  metric("loads/instructions", "loads:u / instructions:u", "", 0.28072)};
  stat.metrics[0].row_event = {"branches", Mode::user};
  stat.metrics[1].row_event = {"loads", Mode::user};
  for (result::Metric& one : stat.metrics) one.per = {"instructions", Mode::user};
  result::Process process;
  process.pid = 42;
  process.parent_pid = 41;
  process.command = "bz\x1bip2";
  process.end = result::End::exited;
  process.counts = {{"loads", {"loads", Mode::user}, Unit::events, exact(702'114'020, Source::engine)}};
  process.threads = {{42, "main", process.counts}, {43, "worker", process.counts}};
  stat.runs = {{0, std::nullopt, true, 1, 2, {}, {process}}};
  for (const result::Event& event : stat.events) stat.runs[0].counts.push_back(event.total);
  return stat;
}

inline Count with_correction(Count count, Correction correction) {
  count.correction = correction;
  return count;
}

// Counts with corrections: faults and interrupts added one each, two each, and nothing.
inline result::Stat sample_corrected() {
  result::Stat stat;
  stat.command = {"rep_stosb"};
  stat.exit_code = 0;
  stat.backend = "perf";
  stat.events = {
      row("instructions:u", with_correction(counted(255, CountSource::pmu("cpu")), {8, 1, 246, 1})),
      row("branches:u", with_correction(counted(493, CountSource::pmu("cpu")), {1, 2, 246, std::nullopt})),
      row("branches-taken:u", with_correction(counted(1, CountSource::pmu("cpu")), {1, 0, 246, std::nullopt})),
      row("cycles:u", counted(1'204, CountSource::pmu("cpu")))};
  for (std::size_t i = 0; i < 3; ++i) stat.events[i].total.repeats = "correctable";
  stat.events[3].total.repeats = "speculative";
  stat.runs = {{0, std::nullopt, true, std::nullopt, std::nullopt, {}, {}}};
  for (const result::Event& event : stat.events) stat.runs[0].counts.push_back(event.total);
  return stat;
}

// The same with requested metrics: of the lowest trust, in percent, and an absent one.
inline result::Stat sample_with_metrics() {
  result::Stat stat = sample();
  stat.metrics.push_back(metric("IPC", "instructions:u / cycles:u", "", 2.07692));
  stat.metrics.back().row_event = {"cycles", Mode::user};
  stat.metrics.back().ratio.trust = Trust::scaled;
  stat.metrics.push_back(metric("branch-miss-rate", "branch-misses:u / branches:u", "share", 0.04944));
  stat.metrics.back().ratio.trust = Trust::modelled;
  stat.metrics.back().ratio.model = "gshare";
  stat.metrics.push_back(metric("loads-per-store", "loads:u / stores:u", "", 0));
  stat.metrics.back().ratio = {std::nullopt, Trust::absent, "user mode only", ""};
  for (std::size_t i = 2; i < stat.metrics.size(); ++i) stat.metrics[i].asked = true;
  return stat;
}

// A series of runs: one event with equal counts, one with different counts, one that is absent in one of the runs.
inline result::Stat sample_series(int runs) {
  result::Stat stat = sample();
  stat.runs_asked = runs;
  stat.runs.clear();
  stat.events = {row("instructions:u", {}), row("loads:u", {}), row("page-faults", {})};
  stat.metrics = {metric("mine", "instructions:u / loads:u", "", 0)};
  stat.metrics[0].asked = true;
  std::vector<std::vector<Count>> series(3);
  std::vector<Ratio> ratios;
  for (int i = 1; i <= runs; ++i) {
    series[0].push_back(exact(10'000, Source::engine));
    series[1].push_back(exact(std::int64_t{1'000} * i, Source::engine));
    series[2].push_back(i == 2 ? absent("the kernel did not say") : counted(i, Source::wait4));
    ratios.push_back({10.0 / i, Trust::exact, "", ""});
    result::Run run{0, std::nullopt, true, {}, {}, {}, {}};
    for (std::size_t j = 0; j < 3; ++j) run.counts.push_back(stat.events[j].total);
    for (std::size_t j = 0; j < 3; ++j) run.counts[j].count = series[j].back();
    stat.runs.push_back(std::move(run));
    stat.metrics[0].runs.push_back(ratios.back().value);
  }
  for (std::size_t j = 0; j < 3; ++j) {
    Count& count = stat.events[j].total.count;
    stat.events[j].summary = summarize(series[j]);
    const Summary& summary = *stat.events[j].summary;
    count = series[j].front();
    count.trust = summary.trust;
    count.reason = summary.median ? "" : summary.reason;
    count.value.reset();
    if (summary.median) count.value = static_cast<std::int64_t>(*summary.median);
  }
  stat.metrics[0].summary = summarize_ratios(ratios);
  stat.metrics[0].ratio = {stat.metrics[0].summary->median, Trust::exact, "", ""};
  return stat;
}

// The counts of a published HPCTool file, in a different order than its columns.
inline result::Stat sample_hpctool() {
  result::Stat stat = sample();
  stat.metrics.clear();
  stat.events = {row("branches:u", counted(1'777, CountSource::pmu("cpu"))),
                 row("ref-cycles:u", counted(65'550, CountSource::pmu("cpu"))),
                 row("branch-misses:u", counted(145, CountSource::pmu("cpu"))),
                 row("instructions:u", counted(7'890, CountSource::pmu("cpu"))),
                 row("cache-references:u", counted(2'302, CountSource::pmu("cpu"))),
                 row("cycles:u", counted(0, CountSource::pmu("cpu"))),
                 row("cache-misses:u", counted(1'917, CountSource::pmu("cpu")))};
  stat.runs[0].counts.clear();
  for (const result::Event& event : stat.events) stat.runs[0].counts.push_back(event.total);
  return stat;
}

// A build: several processes; one executed another program, one was killed, one was counted in part.
inline result::Stat sample_processes() {
  result::Stat stat = sample();
  const std::vector<result::Event> events{
      row("instructions:u", exact(9'000'000, Source::engine)), row("branches:u", exact(1'800'000, Source::engine)),
      row("direct-calls:u", exact(20'000, Source::engine)),    row("loads:u", exact(2'700'000, Source::engine)),
      row("stores:u", exact(900'000, Source::engine)),         row("page-faults", counted(321, Source::wait4))};
  const struct {
    std::int64_t pid, parent;
    int image;
    const char* command;
    result::End end;
    int code;
    bool whole;
  } processes[] = {{100, 99, 0, "make", result::End::exited, 2, true},
                   {101, 100, 0, "make", result::End::executed, 0, true},
                   {101, 100, 1, "/usr/bin/sh", result::End::exited, 0, true},
                   {1002, 101, 0, "/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus", result::End::signalled, 11, false},
                   {1003, 101, 0, "sleep", result::End::running, 0, true}};
  stat.events = events;
  stat.metrics.clear();
  stat.exit_code = 2;
  result::Run run{2, std::nullopt, true, 4, 4, {}, {}};
  for (const result::Event& event : events) run.counts.push_back(event.total);
  for (const auto& one : processes) {
    result::Process process;
    process.pid = one.pid;
    process.parent_pid = one.parent;
    process.image = one.image;
    process.command = one.command;
    process.end = one.end;
    process.end_code = one.code;
    for (const result::Event& event : events) {
      process.counts.push_back(event.total);
      Count& count = process.counts.back().count;
      if (count.source == Source::wait4) count = absent("known for the whole command only");
      if (count.value) *count.value /= one.pid;
      if (!one.whole) count = downgraded(count, Trust::partial, "it was killed: the last block may be counted ahead");
    }
    process.threads = {{one.pid, "main", process.counts, 0}};
    run.processes.push_back(std::move(process));
  }
  stat.runs = {run};
  return stat;
}

}  // namespace tally::output
