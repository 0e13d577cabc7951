#include <fmt/format.h>

#include "tally/base/text.hpp"
#include "tally/cli/command.hpp"
#include "tally/linux/files/output.hpp"

namespace tally::cli {

std::span<const Command> commands() {
  static constexpr Command all[] = {
      {"stat", "counts of a whole command: instructions, branches, loads, stores, faults, times", run_stat,
       describe_stat},
      {"export", "stored results in other formats: csv, table, hpctool", run_export, describe_export},
      {"report", "one page with curves and tables, for a browser, from stored results", run_report, describe_report},
      {"doctor", "whether hardware events can be counted here, if not why, and what to do", run_doctor,
       describe_doctor},
      {"verify", "whether the counts of this machine can be trusted, event by event, and why", run_verify,
       describe_verify},
      {"events", "what may be counted here, by name, and how far its count can be trusted", run_events,
       describe_events},
      {"event", "one event explained: what it counts, where, how it is encoded", run_event, describe_event},
      {"memory", "the memory hierarchy: size, latency, line, ways of each level, and how far to believe it", run_memory,
       describe_memory},
      {"register", "a register of a PMU: a value decoded, made of fields, drawn and checked", run_register,
       describe_register},
      {"lab", "bare-metal code against an emulated PMU, register by register: what they really do", run_lab,
       describe_lab},
      {"rdpmc", "lets every program execute rdpmc on chosen counters of the processor, and ends it again", run_rdpmc,
       describe_rdpmc},
  };
  return all;
}

int exit_code(Code code) {
  switch (code) {
    case Code::bad_usage: return exit_bad_usage;
    case Code::not_found: return exit_not_found;
    case Code::not_executable: return exit_not_executable;
    case Code::cannot_measure:
    case Code::cannot_write: break;
  }
  return exit_cannot_measure;
}

void say(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("{}{}\n", text.empty() ? "tally: " : "       ", line);
  // In one write, so that it does not mix with the program's words. Nobody can be told where this fails.
  (void)linux::Output::standard_error().write(text);
}

int report_error(const Error& error) {
  std::vector<std::string> lines{error.message};
  if (!error.hint.empty()) lines.push_back(error.hint);
  say(lines);
  return exit_code(error.code);
}

int print(std::string_view text) {
  const auto written = linux::Output::standard_output().write(text);
  return written ? exit_ok : report_error(written.error());
}

}  // namespace tally::cli
