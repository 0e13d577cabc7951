// What to type instead of a command that tally does not have: perf's commands, and other words that users try.
#pragma once

#include <string>
#include <string_view>

namespace tally::cli {

struct CommandHint {
  std::string_view word, hint;
};

inline constexpr CommandHint command_hints[] = {
    {"count", "use `tally stat -- PROGRAM`"},
    {"record", "use `tally profile -- PROGRAM` for a profile, `tally sample --every 1M -- PROGRAM` for a time series"},
    {"top", "use `tally watch` for cores and processes, `tally profile -a -e cpu-clock -- sleep 5` for functions"},
    {"coverage", "use `tally profile --format lcov -o FILE -- PROGRAM`; `--fail-under 80%` is a gate"},
    {"why", "use `tally compare --why OLD.json NEW.json` with two results of `tally stat --path-hash`"},
    {"diff", "use `tally compare OLD.json NEW.json` with two results of `tally profile -o FILE.json`"},
    {"list", "use `tally events`; `tally event NAME` explains one"},
    {"annotate", "use `tally profile --annotate FUNCTION -- PROGRAM`"},
    {"script", "use `tally report FILE --format csv`, or `tally profile --format folded -- PROGRAM` for call stacks"},
    {"evlist", "use `tally report --format table FILE`"},
    {"mem",
     "use `tally memory` to measure this machine, `tally stat --model host -e LLC-load-misses -- PROGRAM` for a "
     "program"},
    {"c2c",
     "models have the caches of one processor; use perf on a machine with a PMU, or `tally memory` for this machine"},
    {"trace", "use `strace` for system calls, `tally sample --every 1M -- PROGRAM` for a time series of counts"},
    {"test", "use `tally verify`"},
    {"check", "use `tally doctor`"},
    {"info", "use `tally doctor`"},
    {"version", "use `tally --version`"},
    {"cachegrind", "use `tally callgrind --tool cachegrind -- PROGRAM`"},
    {"valgrind", "use `tally callgrind -- PROGRAM`, or `tally callgrind --tool cachegrind -- PROGRAM`"},
};

/// Commands of perf that have no equivalent in tally.
inline constexpr std::string_view only_of_perf[] = {
    "archive",  "buildid-cache", "buildid-list", "config", "daemon", "data",  "ftrace", "inject",   "iostat",
    "kallsyms", "kmem",          "kvm",          "kwork",  "lock",   "probe", "sched",  "timechart"};

/// What to type instead of this command; empty for a word that is not in the tables.
inline std::string command_hint(std::string_view word) {
  for (const CommandHint& one : command_hints) {
    if (one.word == word) return std::string(one.hint);
  }
  for (const std::string_view name : only_of_perf) {
    if (name == word) return "tally has no equivalent of `perf " + std::string(word) + "`: use perf";
  }
  return "";
}

}  // namespace tally::cli
