#include "tally/tools/snippet/snippet_counting.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/command/terminal_output.hpp"

#include <fmt/format.h>

#include "tally/core/base/text.hpp"
#include "tally/counting/measure/measure_stat.hpp"
#include "tally/hardware/assembly/code_loop.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/process/received_signals.hpp"
#include "tally/output/kinds/snippet_format.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/option_groups.hpp"

namespace tally::snippet {
namespace {

// A PMU's counts are noisy: repeats, of which the median is used. The engine's counts are the same each time.
constexpr int repeats_of_a_pmu = 7;

// The default events: the kinds of instructions, and cycles.
std::vector<event::Event> usual_events() {
  auto events = event::parse_lists({"instructions,branches,loads,stores,cycles"});
  return events ? *std::move(events) : std::vector<event::Event>{};
}

Result<void> check_snippet(const report::ResultOptions& results) {
  if (results.append || results.separator || !results.description.empty() || results.style.per_process ||
      results.style.per_thread) {
    return fail(Code::bad_usage, "--append, -x, --meta, --per-process and --per-thread cannot be used with --asm",
                "omit them");
  }
  return {};
}

}  // namespace

void add_code_options(command::Page& page, CodeOptions& options) {
  const command::GroupScope group(page, command::code_group);
  page.add_option("--asm", options.code,
                  "instead of a command: count one copy of CODE, which is instructions in Intel syntax separated by ; "
                  "or an assembly file (.s)")
      .value_name("CODE");
  page.add_option("--init", options.init,
                  "with --asm: run this code once before; " + std::string(assembly::reserved_registers()))
      .value_name("CODE");
  page.add_option("--unroll", options.unroll,
                  "with --asm: copies of the code in the loop (default: 100; a second program with twice as many gives "
                  "the difference)")
      .value_name("N")
      .check(command::whole_number(1, 100'000));
  page.add_option("--rounds", options.rounds,
                  "with --asm: iterations of the loop (default: 1000; a second program runs twice as many)")
      .value_name("N")
      .check(command::whole_number(1, 1'000'000'000));
}

int count_code(const CodeOptions& code, CodeRequest request) {
  if (const auto checked = check_snippet(request.results); !checked) return command::report_error(checked.error());
  const auto format =
      output::choose_format(output::snippet_formats(), request.results.format, request.results.output, "table");
  if (!format) return command::report_error(format.error());
  auto text = assembly::code_of(code.code);
  if (!text) return command::report_error(text.error());
  auto init = assembly::code_of(code.init);
  if (!init) return command::report_error(init.error());
  measure::SnippetOptions& asked = request.snippet;
  asked.code = *std::move(text);
  asked.init = *std::move(init);
  if (code.unroll) asked.unroll = *code.unroll;
  if (code.rounds) asked.rounds = *code.rounds;
  if (request.nothing_asked) asked.events = usual_events();
  const linux::HostMachine machine = linux::read_host_machine();
  backend::Order order;
  order.events = asked.events;
  if (asked.rdpmc) order.instrument = backend::Order::Regions{{}, {}, true};
  auto choice = backend::choose(request.backend, order, machine, request.simulation);
  if (!choice) return command::report_error(choice.error());
  if (choice->backend->traits().has_pmu_counters && asked.repeats == 1) asked.repeats = repeats_of_a_pmu;
  auto output = linux::Output::open_file_or_stream(request.results.output);
  if (!output) return command::report_error(output.error());
  auto signals = linux::Signals::watch();
  if (!signals) return command::report_error(signals.error());
  if ((*format)->is_for_people && !choice->notices.empty() && !request.quiet) command::say(choice->notices);
  auto snippet = measure::snippet(*choice->backend, asked, *signals);
  if (const auto signal = signals->interrupted_by()) linux::die_of(*signal);
  if (!snippet) return command::report_error(snippet.error());
  snippet->environment = measure::environment(machine);
  snippet->environment.provenance = command::provenance();
  snippet->notices.insert(snippet->notices.end(), choice->event_notes.begin(), choice->event_notes.end());
  if (const auto done = output->write((*format)->write(*snippet, command::terminal_columns(*output))); !done)
    return command::report_error(done.error());
  const auto described = command::describe_csv(**format, request.results.output, output::snippet_json(*snippet));
  return described ? command::exit_ok : command::report_error(described.error());
}

}  // namespace tally::snippet
