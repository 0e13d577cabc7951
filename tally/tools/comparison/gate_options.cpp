#include "tally/tools/comparison/gate_options.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/output/analysis/comparable.hpp"
#include "tally/output/analysis/gates.hpp"
#include "tally/output/data/other_tools.hpp"
#include "tally/output/registry/formats.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/option_groups.hpp"
#include "tally/tools/comparison/gates_file.hpp"
#include "tally/tools/report/stored_files.hpp"

namespace tally::comparison {
namespace {

constexpr output::Kind compared_kinds[] = {output::Kind::profile, output::Kind::windows, output::Kind::memory,
                                           output::Kind::regions, output::Kind::stat};

/// Reads a file of tally or, if no format of tally recognises it, of another tool.
Result<output::Comparable> read_any(const output::StoredFile& file) {
  const output::Format* const format = output::recognised_format(output::formats(), compared_kinds, file);
  if (format == nullptr)
    for (const output::OtherTool& tool : output::other_tools())
      if (tool.recognise(file.text)) return tool.read(file.text, file.name);
  auto results = report::stored_results(file, format);
  if (!results) return fail(results.error());
  if (results->size() != 1)
    return fail(Code::bad_usage,
                fmt::format("'{}' holds {} results: compare files with one", printable(file.name), results->size()));
  auto comparable = output::comparable_of(std::move(results->front()));
  if (comparable && comparable->profile != nullptr)
    output::set_threads(*comparable, result::read_profile_threads(file.text));
  return comparable;
}

/// The gates of a file; none without a name.
Result<std::vector<output::Gate>> read_gates_file(const std::string& name) {
  if (name.empty()) return std::vector<output::Gate>{};
  const auto file = report::read_stored(name);
  if (!file) return fail(file.error());
  return parse_gates_file(file->text, name);
}

}  // namespace

void add_gate_options(command::Page& page, GateOptions& options) {
  const command::GroupScope group(page, command::results_group);
  page.add_option("--fail-above", options.hard, "exit with 1 if the count grew by more than the limit; repeatable")
      .value_name("GATE")
      .repeated();
  page.add_option("--warn-above", options.soft, "print a warning if the count grew by more than the limit; repeatable")
      .value_name("GATE")
      .repeated();
  page.add_option("--gates", options.file, "read more gates from FILE, for example tally-gates.toml")
      .value_name("FILE");
  add_undecided_option(page, options.undecided);
}

void add_baseline_option(command::Page& page, std::string& baseline) {
  const command::GroupScope group(page, command::results_group);
  page.add_option("--baseline", baseline,
                  "compare with the stored result FILE, made with -o FILE.json, and print the verdict; `tally bench`: "
                  "with the results in this directory")
      .value_name("FILE");
}

void add_undecided_option(command::Page& page, std::string& undecided) {
  const command::GroupScope group(page, command::results_group);
  page.add_option("--undecided", undecided, "exit code if a gate is undecided: 3 (default), fail (1), pass (0)")
      .value_name("CODE")
      .one_of({"3", "fail", "pass"});
}

int undecided_exit_code(const std::string& undecided) {
  if (undecided == "pass") return command::exit_ok;
  return undecided == "fail" ? int{command::exit_no} : int{command::exit_not_comparable};
}

Result<std::vector<output::Gate>> read_gates(const GateOptions& options) {
  std::vector<output::Gate> gates;
  std::vector<Error> errors;
  for (const auto& [texts, is_hard] : {std::pair{&options.hard, true}, {&options.soft, false}})
    for (const std::string& text : *texts) {
      auto gate = output::parse_gate(text, is_hard);
      if (gate)
        gates.push_back(*std::move(gate));
      else
        errors.push_back(gate.error());
    }
  if (auto more = read_gates_file(options.file))
    gates.insert(gates.end(), std::make_move_iterator(more->begin()), std::make_move_iterator(more->end()));
  else
    errors.push_back(more.error());
  if (!errors.empty()) return fail(output::joined_errors(errors));
  return gates;
}

std::string comparable_lines() {
  std::string text = output::reader_lines(output::formats(), compared_kinds);
  for (const output::OtherTool& tool : output::other_tools()) text += fmt::format("  {}\n", tool.name);
  return text;
}

Result<output::Comparable> read_comparable(const std::string& name) {
  const auto file = report::read_stored(name);
  if (!file) return fail(file.error());
  auto comparable = read_any(*file);
  if (!comparable) return comparable;
  if (const auto checked = output::check_values(*comparable); !checked)
    return fail(Code::bad_usage, fmt::format("'{}': {}", printable(name), checked.error().message));
  return comparable;
}

}  // namespace tally::comparison
