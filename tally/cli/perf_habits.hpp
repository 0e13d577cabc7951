// Hints for options of `perf stat` that `tally stat` does not have.
#pragma once

#include <string>
#include <string_view>

namespace tally::cli {

// Options of `perf stat`, and what to use instead.
struct PerfOption {
  std::string_view option, instead;
};
inline constexpr PerfOption perf_options[] = {
    {"-d", "perf's -d adds L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses: name them with -e"},
    {"-j", "`--format json` writes one object"},
    {"-A", "`-a --per-core` reports each core"},
    {"--no-aggr", "`-a --per-core` reports each core"},
    {"-G", "`--cgroup PATH` counts one control group"},
    {"-i", "`-t TID` counts a thread without its children"},
    {"--no-inherit", "`-t TID` counts a thread without its children"},
    {"-n", "`-e duration_time` counts only the time"},
    {"--null", "`-e duration_time` counts only the time"},
};

/// The hint for an option of perf; empty for others.
inline std::string perf_option_hint(const std::string& unknown) {
  for (const PerfOption& one : perf_options) {
    if (one.option == unknown) return std::string(one.instead);
  }
  return "";
}

}  // namespace tally::cli
