#include "tally/tools/comparison/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/file_state.hpp"
#include "tally/output/analysis/comparable.hpp"
#include "tally/output/analysis/comparison.hpp"
#include "tally/output/analysis/gates.hpp"
#include "tally/output/kinds/comparison_format.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/report/stored_files.hpp"

namespace tally::comparison {
namespace {

using State = output::GateResult::State;

constexpr const char* make_baseline = "make a baseline of this command with -o FILE.json";

Error missing_baseline(const std::string& file, const std::vector<std::string>& command) {
  return {Code::bad_usage, fmt::format("the baseline '{}' is missing", printable(file)),
          fmt::format("make one: tally stat -o {} -- {}", printable(shell_words({file})),
                      command.empty() ? "COMMAND" : printable(shell_words(command))),
          0};
}

Baseline::Outcome not_judged(const std::string& file, const char* state, const Error& error, int exit_code) {
  std::string text = fmt::format("{}: {}", state, join(split(error.message, '\n'), "; "));
  if (!error.hint.empty()) text += "; " + error.hint;
  return {.verdict = {.baseline = file, .state = state, .text = text, .gates = {}},
          .table = fmt::format(" {}\n", printable(text)),
          .exit_code = exit_code};
}

}  // namespace

std::pair<const char*, int> outcome_of(const output::JudgedComparison& judged, int undecided_code) {
  if (judged.any(State::failed, true)) return {"failed", command::exit_no};
  if (judged.any(State::undecided, true)) return {"undecided", undecided_code};
  return {"passed", command::exit_ok};
}

void add_baseline_options(command::Page& page, BaselineOptions& options) {
  add_baseline_option(page, options.file);
  add_gate_options(page, options.gates);
}

Result<std::optional<Baseline>> Baseline::open(const BaselineOptions& options, const std::vector<std::string>& command,
                                               const std::string& output) {
  if (options.file.empty()) {
    if (options.gates.any())
      return fail(Code::bad_usage, "a gate needs --baseline",
                  "for example: tally stat --baseline base.json --fail-above instructions=1% -- ./prog");
    return std::nullopt;
  }
  auto gates = read_gates(options.gates);
  if (!gates) return fail(gates.error());
  if (options.file != "-" && !linux::file_state(options.file)) return fail(missing_baseline(options.file, command));
  if (const auto apart = report::check_not_read(output, {options.file}); !apart) return fail(apart.error());
  auto before = read_comparable(options.file);
  if (!before) return fail(before.error());
  Baseline baseline(options.file, *std::move(before), *std::move(gates), undecided_exit_code(options.gates.undecided));
  std::vector<std::string> events;
  for (const output::Measure& measure : baseline.before_.measures) events.push_back(measure.name);
  std::vector<Error> errors;
  for (const output::Gate& gate : baseline.gates_) {
    if (const auto found = output::check_event(gate, events, fmt::format("'{}'", printable(options.file))); !found)
      errors.push_back(found.error());
    const std::string where = fmt::format("'{}'", printable(options.file));
    if (const auto function = output::check_function(gate, baseline.before_, where); !function)
      errors.push_back(function.error());
    for (const output::Measure& measure : baseline.before_.measures)
      if (output::check_event(gate, {measure.name}, "")) {
        if (const auto suits = output::check_unit(gate, measure.unit == Unit::nanoseconds); !suits)
          errors.push_back(suits.error());
        break;
      }
  }
  if (!errors.empty()) return fail(output::joined_errors(errors));
  // Refused before the program runs.
  output::Comparable planned;
  planned.command = command;
  planned.failure = baseline.before_.failure;
  if (command.empty() || baseline.before_.command.empty()) return baseline;
  if (const auto different = output::not_comparable(baseline.before_, planned))
    return fail(Code::cannot_measure, "not comparable: " + different->message, make_baseline);
  return baseline;
}

Result<void> Baseline::check_events(const std::vector<std::string>& events) const {
  std::vector<Error> errors;
  for (const output::Gate& gate : gates_) {
    const bool is_event = std::any_of(before_.measures.begin(), before_.measures.end(), [&](const auto& measure) {
      return !measure.is_metric && measure.subject.empty() && output::check_event(gate, {measure.name}, "");
    });
    if (!is_event) continue;  // metrics and regions are known after the run
    if (const auto found = output::check_event(gate, events, "this measurement"); !found)
      errors.push_back(found.error());
  }
  if (!errors.empty()) return fail(output::joined_errors(errors));
  return {};
}

Baseline::Outcome Baseline::judge(const result::Stat& stat, std::size_t terminal) const {
  const auto after = output::comparable_of(stat);
  if (!after) return not_judged(file_, "usage", after.error(), command::exit_bad_usage);
  if (const auto different = output::not_comparable(before_, *after)) {
    Error error = *different;
    // A result of a run that failed is no baseline.
    error.hint = after->failure.empty() ? make_baseline : "";
    return not_judged(file_, "not comparable", error, command::exit_cannot_measure);
  }
  const auto compared = output::compare_and_judge(before_, *after, gates_);
  if (!compared) return not_judged(file_, "usage", compared.error(), command::exit_bad_usage);
  const output::JudgedComparison& judged = *compared;
  const auto [state, code] = outcome_of(judged, undecided_code_);
  Outcome outcome{.verdict = {.baseline = file_, .state = state, .text = judged.verdict(), .gates = {}},
                  .table = output::comparison_table(judged, {.terminal = terminal}),
                  .exit_code = code};
  for (const output::GateResult& gate : judged.gates)
    outcome.verdict.gates.push_back({.limit = gate.gate.text,
                                     .is_hard = gate.gate.is_hard,
                                     .state = std::string(output::name(gate.state)),
                                     .text = gate.text});
  return outcome;
}

}  // namespace tally::comparison
