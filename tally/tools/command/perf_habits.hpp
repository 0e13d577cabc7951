// Hints for options of perf, LIKWID and of other commands of tally that a command lacks or spells differently.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace tally::command {

/// An option of perf, and what a command of tally has instead.
struct PerfOption {
  std::string_view command, option, instead, other_name = option;
};
inline constexpr std::string_view groups_of_stat =
    "`tally stat --group NAME` counts a group of events; name those with -e, `tally events --groups` lists them";
inline constexpr std::string_view metrics_of_stat =
    "`tally stat -M METRIC` computes metrics; name their events with -e, `tally stat --help` lists the metrics";
inline constexpr std::string_view causes_of_profile =
    "`tally profile -e cycles` prints the main cause of each row; `tally stat --topdown` divides those of the program";
inline constexpr PerfOption perf_options[] = {
    {"stat", "-d", "perf's -d adds L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses: name them with -e"},
    {"stat", "-dd", "it is perf's: name the events with -e, `tally events` lists them"},
    {"stat", "--all-user", "omit it: events count user mode by default"},
    {"stat", "--all-kernel", "append `:k` to the events"},
    {"stat", "-l", "omit it: --topdown prints all its levels", "--td-level"},
    {"stat", "-A", "`-a --per-core` reports each core", "--no-aggr"},
    {"stat", "-G", "`--cgroup PATH` counts one control group"},
    {"stat", "-i", "`-t TID` counts a thread without its children", "--no-inherit"},
    {"stat", "-n", "`-e duration_time` counts only the time", "--null"},
    {"stat", "-B", "omit it: digits are grouped, except with -x", "--big-num"},
    {"stat", "-v", "`tally event NAME` explains how an event is counted", "--verbose"},
    {"stat", "-F", "`tally profile --frequency HZ` samples"},
    {"stat", "-c", "`tally profile --every N` samples"},
    {"stat", "-g", "`--group NAME` counts a group, as likwid-perfctr -g; `tally profile --calls` records calls"},
    {"sample", "-F", "`tally profile --frequency HZ` samples; windows need `--every N`"},
    {"sample", "-c", "`--every N` sets the length of a window"},
    {"sample", "-g", "`tally profile --calls` records calls", "--call-graph"},
    {"profile", "-g", "`--calls` records calls; `tally stat --group NAME` counts a group, as likwid-perfctr -g"},
    {"profile", "--group", groups_of_stat},
    {"profile", "-M", metrics_of_stat, "--metrics"},
    {"profile", "--function", "`tally stat --function NAME` counts the entries of a function"},
    {"sample", "--group", groups_of_stat},
    {"sample", "-M", metrics_of_stat, "--metrics"},
    {"profile", "--call-graph", "`--calls` records calls; samples record call stacks by frame pointers"},
    {"profile", "-F", "`--frequency HZ` samples HZ times per second and CPU"},
    {"profile", "-c", "`--every N` samples every N events", "--count"},
    {"profile", "-n", "`--top N` limits the rows of the table"},
    {"profile", "--topdown", causes_of_profile},
    {"profile", "--flame", "`--calls -o FILE.html` writes a page with a flame graph"},
    {"profile", "--stdio", "omit it: the table is the default format"},
};

/// Returns the hint for an option of perf in a command of tally, "stat"; empty for others. `unknown` may include a
/// value:
/// "-F99", "--call-graph=fp".
inline std::string perf_option_hint(std::string_view command, std::string_view unknown) {
  const bool is_short = unknown.size() > 2 && unknown[1] != '-' && std::isdigit(static_cast<unsigned char>(unknown[2]));
  const std::string_view option = is_short ? unknown.substr(0, 2) : unknown.substr(0, unknown.find('='));
  for (const PerfOption& one : perf_options) {
    if (one.command == command && (one.option == option || one.other_name == option)) return std::string(one.instead);
  }
  return "";
}

}  // namespace tally::command
