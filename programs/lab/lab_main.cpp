// tally-lab: runs the program or the statements that the options name, and prints what happens.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "programs/lab/choose.hpp"
#include "programs/lab/lab_arguments.hpp"
#include "programs/lab/prompt.hpp"
#include "programs/lab/run_json.hpp"
#include "programs/lab/script_story.hpp"
#include "programs/lab/story.hpp"
#include "tally/core/base/foreign_text.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/linux/process/noted_signal.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/output/kit/grid.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/command/program_main.hpp"

namespace tally::lab {
namespace {

using command::exit_no;
using command::exit_ok;

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

// Wraps lines that are wider than the terminal.
void print_lines(const std::string& text) {
  static const std::size_t terminal = linux::terminal_columns(linux::Stream::output);
  print(output::wrapped_lines(text, terminal));
}

// Messages contain lines of the program and file names.
std::string shown(const std::string& message) { return ForeignText(message).in_lines(); }

int report(const Error& error) {
  std::fflush(stdout);
  std::fprintf(stderr, "tally: %s\n", shown(error.message).c_str());
  if (!error.hint.empty()) std::fprintf(stderr, "       %s\n", shown(error.hint).c_str());
  return command::exit_code(error.code);
}

Result<std::uint64_t> place_of(const Image& image, const std::string& word) {
  if (const auto address = image.address_of(word)) return *address;
  return fail(Code::bad_usage, fmt::format("unknown location '{}'", printable(word)),
              "use a line that has an instruction, a label, or an address such as 100020H");
}

Result<RunSettings> settings_of(const Options& options, const Image& image) {
  RunSettings settings;
  // A multiboot program is a whole test suite.
  constexpr std::uint64_t usual = 100'000'000, of_multiboot = 10'000'000'000, large_cache = 32 << 20;
  if (image.is_multiboot) settings.cache_bytes = large_cache;
  if (options.cache != 0) settings.cache_bytes = options.cache;
  settings.max_instructions = options.max_instructions != 0 ? options.max_instructions
                              : image.is_multiboot          ? of_multiboot
                                                            : usual;
  settings.steps = options.trace || options.step;
  settings.step_registers = options.step;
  settings.reads = options.reads;
  for (const std::string& word : options.breaks) {
    const auto address = place_of(image, word);
    if (!address) return fail(address.error());
    settings.breakpoints.push_back(*address);
  }
  return settings;
}

int exit_code_of(const End& end) {
  if (end.is_error()) return exit_no;
  return end.reason == End::Reason::exited ? end.code : exit_ok;
}

// The time between two addresses: --time.
struct TimedRange {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  bool is_open = false;
  std::uint64_t instructions = 0;
  std::uint64_t stamps = 0;

  // Returns the text to print when the program reaches `address`.
  std::string pass(std::uint64_t address, const Computer& machine) {
    std::string text;
    if (address == to && is_open) {
      is_open = false;
      text = fmt::format("from {} to {}: {} instructions, {} time stamps\n", machine.image().place(from),
                         machine.image().place(to),
                         thousands(static_cast<std::int64_t>(machine.instructions() - instructions)),
                         thousands(static_cast<std::int64_t>(machine.time_stamp() - stamps)));
    }
    if (address == from) {
      is_open = true;
      instructions = machine.instructions();
      stamps = machine.time_stamp();
    }
    return text;
  }
};

Result<std::optional<TimedRange>> range_of(const Options& options, const Image& image) {
  if (options.time.empty()) return std::optional<TimedRange>{};
  const std::size_t dots = options.time.find("..");
  const auto from = place_of(image, options.time.substr(0, dots));
  if (!from) return fail(from.error());
  const auto to = place_of(image, options.time.substr(dots + 2));
  if (!to) return fail(to.error());
  return TimedRange{*from, *to};
}

// A run with its output settings and results.
struct Run {
  const Options& options;
  const Script* script = nullptr;
  Telling telling;
  std::optional<ScriptStory> story;
  std::vector<Entry> entries;
  Timeline timeline;
  Computer* machine = nullptr;
  std::optional<TimedRange> timed;
  std::vector<std::uint64_t> asked;  // breakpoints to report

  bool is_asked(std::uint64_t address) const { return std::find(asked.begin(), asked.end(), address) != asked.end(); }

  void hear(const Entry& heard) {
    Entry entry = heard;
    if (timed && entry.kind == Entry::Kind::breakpoint) {
      const std::string text = timed->pass(entry.address, *machine);
      if (!options.json) print(text);
      if (!is_asked(entry.address)) return;
    }
    const auto more = machine->lint(entry);
    entry.remarks.insert(entry.remarks.end(), more.begin(), more.end());
    if (options.json) {
      if (entry.kind != Entry::Kind::step) timeline.add(*machine);
      entries.push_back(std::move(entry));
    } else if (story) {
      print_lines(story->hear(entry, *machine));
    } else {
      print_lines(entry_text(entry, *machine, telling));
    }
    // Flushed at each event for readers of a pipe or a file, but not for single steps, which are too many.
    if (heard.kind != Entry::Kind::step) std::fflush(stdout);
  }
};

struct Outcome {
  int code = exit_ok;
  bool is_error = false;
};

// `first`: statements before it were already reported.
Outcome run(const Options& options, const Image& image, const Script* script, std::size_t first = 0) {
  auto settings = settings_of(options, image);
  if (!settings) return {report(settings.error()), true};
  const auto timed = range_of(options, image);
  if (!timed) return {report(timed.error()), true};
  Run run{options, script, {options.explain, options.quiet}, {}, {}, {}, nullptr, *timed, settings->breakpoints};
  if (script) {
    settings->reads = true;
    for (const Statement& one : script->statements) settings->breakpoints.push_back(one.address);
    settings->breakpoints.push_back(script->end);
    run.story.emplace(*script, run.telling, first);
  }
  if (*timed) {
    settings->breakpoints.push_back((*timed)->from);
    settings->breakpoints.push_back((*timed)->to);
  }
  const auto machine = make_computer(options, image, *settings, [&run](const Entry& entry) { run.hear(entry); });
  if (!machine) return {report(machine.error()), true};
  run.machine = machine->get();
  if (!options.json && !options.quiet && !options.interactive) print_lines((*machine)->headline());
  if (!options.interactive) linux::restart_calls();
  const End end = (*machine)->run();
  const auto last = (*machine)->lint_at_end();
  if (options.json) {
    run.timeline.add(**machine);
    print(json_text(run.entries, end, **machine, last, run.timeline, command::provenance()));
    return {exit_code_of(end), end.is_error()};
  }
  if (run.story) print_lines(run.story->finish(**machine));
  if (!script) print_lines(ending(end, **machine, run.telling));
  if (!options.quiet) print_lines(remarks_text(last, true, ""));
  if (options.dump) print((*machine)->drawings());
  std::fflush(stdout);
  // At the prompt the statement is undone, so this is no failure.
  if (end.is_error() && !options.interactive) {
    std::fprintf(stderr, "tally: %s\n", shown(end.message).c_str());
    if (end.hint.empty()) return {exit_code_of(end), true};
    for (const std::string& line : wrapped(end.hint, 100)) std::fprintf(stderr, "       %s\n", line.c_str());
  }
  return {exit_code_of(end), end.is_error()};
}

constexpr const char* x86_statements =
    R"(  wrmsr REGISTER VALUE          write a register, by name or number: wrmsr 0x186 0x4300c0
  wrmsr REGISTER:FIELD=N,FIELD  write fields: wrmsr IA32_PERFEVTSEL0:event=0xc0,USR,OS,EN
  rdmsr REGISTER                read a register
  rdpmc N, rdpmc fixed N        read a counter
  run N INSTRUCTION             run an instruction N times; without one: nop
  user                          go to CPL 3
  INSTRUCTION                   any instruction, in the syntax of nasm: mov eax, 1
  dump, reset, quit             draw all registers, start over, end
)";

constexpr const char* arm_statements =
    R"(  msr REGISTER, VALUE           write a register: msr pmcr_el0, 1
  msr REGISTER:FIELD=N,FIELD    write fields: msr pmcr_el0:E
  mrs REGISTER                  read a register
  run N INSTRUCTION             run an instruction N times; without one: nop
  user                          go to EL0
  INSTRUCTION                   any instruction, in the syntax of GNU as: mov x0, #1
  dump, reset, quit             draw all registers, start over, end
)";

// The prompt. Each line runs all lines again and reports only the new statements, so the machine is always in the state
// after the lines above.
int converse(const Options& options, bool is_arm) {
  print("help lists the statements; dump draws all registers, reset starts over, quit ends\n");
  Prompt prompt(registers_of(options));
  std::string so_far;
  std::size_t reported_already = 0;
  while (const auto line = prompt.read()) {
    const std::string words = trimmed(*line);
    if (words.empty()) continue;
    if (words == "quit" || words == "exit") break;
    if (words == "help" || words == "?") {
      print(is_arm ? arm_statements : x86_statements);
      continue;
    }
    if (words == "reset") {
      so_far.clear();
      reported_already = 0;
      continue;
    }
    Options once = options;
    once.dump = words == "dump";
    const std::string text = once.dump ? so_far + ";nop" : so_far + ";" + words;
    const auto script = compile_for(options, text);
    if (!script) {
      report(script.error());
      continue;
    }
    // Statements that were already reported; for a drawing, which has none of its own, all of them.
    const std::size_t first = once.dump ? script->statements.size() : reported_already;
    const Outcome outcome = run(once, script->image, &*script, first);
    if (outcome.is_error || once.dump) continue;
    so_far = text;
    reported_already = script->statements.size();
  }
  return exit_ok;
}

int run_all(const Options& options) {
  if (!options.interactive) linux::note_ending_signals();
  if (options.interactive) {
    const auto script = compile_for(options, "nop");
    if (!script) return report(script.error());
    const auto computer = make_computer(options, script->image, {}, {});
    if (!computer) return report(computer.error());
    print_lines((*computer)->headline());
    return converse(options, script->image.is_arm);
  }
  if (!options.statements.empty()) {
    const auto script = compile_for(options, options.statements);
    return script ? run(options, script->image, &*script).code : report(script.error());
  }
  const auto image = load_for(options);
  if (image) {
    for (const std::string& one : image->warnings) std::fprintf(stderr, "tally: %s\n", shown(one).c_str());
  }
  return image ? run(options, *image, nullptr).code : report(image.error());
}

void describe_lab(command::Page& page) {
  static Arguments unused;
  describe(page, unused);
}

int run_lab(const std::vector<std::string>& words) {
  Arguments arguments;
  command::Page page;
  describe(page, arguments);
  if (const auto done = page.read(words)) return *done;
  const std::string file = arguments.options.file;
  const auto options = check(std::move(arguments));
  if (!options) return report(options.error());
  if (options->file != file && !options->quiet)
    std::fprintf(stderr, "tally: the example %s\n", shown(options->file).c_str());
  const int code = run_all(*options);
  // A full disk, which a write to the library's buffer does not report.
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (const int number = linux::noted_signal(); number != 0) linux::die_of(number);
  if (is_written) return code;
  return command::report_error(
      {Code::cannot_write, fmt::format("standard output could not be written: {}", std::strerror(errno)), "", errno});
}

}  // namespace
}  // namespace tally::lab

int main(int argc, char** argv) {
  constexpr tally::command::Program lab{"lab", tally::lab::describe_lab, tally::lab::run_lab};
  return tally::command::run_program(lab, argc, argv);
}
