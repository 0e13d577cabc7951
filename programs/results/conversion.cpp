#include "programs/results/conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "programs/memory_output/memory_format.hpp"
#include "programs/results/reported_formats.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/output/kinds/regions_format.hpp"
#include "tally/output/kinds/windows_format.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/output/registry/formats.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/command/terminal_output.hpp"
#include "tally/tools/report/stored_files.hpp"
#include "tally/tools/windows/write_windows.hpp"

namespace tally::results {
namespace {

// The kinds that it reads, in the order in which they are tried. Rows of HPCTool are read as runs, unless
// tally describes them as windows.
constexpr output::Kind converted_kinds[] = {output::Kind::stat, output::Kind::memory, output::Kind::windows,
                                            output::Kind::regions};

// Rejects files that are recognised, but not converted. Errors: bad_usage.
Result<void> check_known(const output::StoredFile& file) {
  if (auto why = unreadable_file_error(file)) return fail(*std::move(why));
  constexpr output::Kind others[] = {output::Kind::profile, output::Kind::discovery, output::Kind::lab,
                                     output::Kind::verify};
  const auto* const other = output::recognised_format(reported_formats(), others, file);
  if (other == nullptr) return {};
  const std::string name = printable(file.name);
  return fail(
      Code::bad_usage,
      fmt::format("'{}' is a result of `{}`, which has no such formats", name, output::source_name(other->kind)),
      fmt::format("`tally report {} -o page.html` makes a page of it", name));
}

Result<std::vector<result::Stat>> read_stats(const std::vector<std::string>& files) {
  std::vector<result::Stat> all;
  for (const std::string& name : files) {
    const auto file = read_stored(name);
    if (!file) return fail(file.error());
    if (output::recognised_format(reported_formats(), {converted_kinds, 1}, *file) == nullptr)
      if (auto known = check_known(*file); !known) return fail(known.error());
    auto results = stored_results(*file, {converted_kinds, 1});
    if (!results) return fail(results.error());
    for (result::AnyResult& one : *results) all.push_back(std::get<result::Stat>(std::move(one)));
  }
  return all;
}

// What a message calls results that are not combined.
struct SingleKind {
  std::string_view several, single, hint;
};
constexpr SingleKind single_memory{"results of `tally memory`", "a result of `tally memory`",
                                   "`tally report` makes one page of several results"};
constexpr SingleKind single_regions{"regions of programs", "the regions of a program",
                                    "`tally report` makes one page of several results, and with --ranks a sum"};
constexpr SingleKind single_windows{"files of windows", "a file of windows",
                                    "convert each file with a command of its own"};

// The output format of results that are written one at a time. Errors: bad_usage.
template <class F>
Result<const F*> single_format(std::span<const F> formats, const SingleKind& kind, std::size_t results,
                               const ResultOptions& how, const std::string& usual) {
  const auto format = output::choose_format(formats, how.format, how.output, usual);
  if (!format) return format;
  if (results > 1)
    return fail(Code::bad_usage, fmt::format("{} can only be written one at a time", kind.several),
                std::string(kind.hint));
  if (how.append || how.separator || !how.description.empty() || how.style.per_process || how.style.per_thread)
    return fail(Code::bad_usage, fmt::format("only --format and -o can be used with {}", kind.single),
                "the other options are for results of `tally stat`");
  return format;
}

// The file of -o, else standard output.
Result<linux::Output> open_output(const std::string& path) {
  return path.empty() || path == "-" ? Result<linux::Output>(linux::Output::standard_output())
                                     : linux::Output::open_file(path);
}

// Writes a text, and for CSV its description: the result as JSON.
int write_described(const output::Format& format, const std::string& path, linux::Output& output,
                    const std::string& text, const std::string& json) {
  if (const auto done = output.write(text); !done) return command::report_error(done.error());
  const auto described = command::describe_csv(format, path, json);
  return described ? command::exit_ok : command::report_error(described.error());
}

// Converts one result of `tally memory`; the output is the same as from `tally memory` itself.
int convert_memory(result::Memory memory, std::size_t results, const ResultOptions& how, const std::string& usual) {
  const auto format = single_format(output::memory_formats(), single_memory, results, how, usual);
  if (!format) return command::report_error(format.error());
  if (const auto supported = output::check_task(**format, memory.task); !supported)
    return command::report_error(supported.error());
  auto output = open_output(how.output);
  if (!output) return command::report_error(output.error());
  command::hide_host(memory.environment, **format);
  return write_described(**format, how.output, *output, (*format)->write(memory, command::terminal_columns(*output)),
                         output::memory_json(memory));
}

// Converts the regions of one process; the output is the same as with TALLY_OUTPUT.
int convert_regions(const result::ProgramRegions& program, std::size_t results, const ResultOptions& how,
                    const std::string& usual) {
  const auto format = single_format(output::regions_formats(), single_regions, results, how, usual);
  if (!format) return command::report_error(format.error());
  auto output = open_output(how.output);
  if (!output) return command::report_error(output.error());
  return write_described(**format, how.output, *output, (*format)->write(program), output::regions_json(program));
}

// Converts a file of windows.
int convert_windows(const result::Windows& windows, std::size_t files, const ResultOptions& how,
                    const std::string& usual) {
  const auto chosen = single_format(output::window_formats(), single_windows, files, how, usual);
  if (!chosen) return command::report_error(chosen.error());
  const output::WindowFormat& format = **chosen;
  if (!windows.notices.empty()) command::say(windows.notices);
  if (format.fits != nullptr) {
    std::vector<EventName> names;
    for (const result::EventCount& event : windows.head.events) names.push_back(event.name);
    if (const auto fits = format.fits(names); !fits) return command::report_error(fits.error());
  }
  auto output = open_output(how.output);
  if (!output) return command::report_error(output.error());
  if (const auto allowed = command::check_binary_output(format, *output); !allowed)
    return command::report_error(allowed.error());
  const bool is_file = output->is_file();
  windows::WindowRows rows(format, std::move(*output));
  rows.begin(windows.head);
  result::visit_by_time(windows, [&](const result::Window& window) { rows.row(window); });
  auto written = rows.finish(windows.head);
  if (written && format.needs_description && is_file) {
    auto description = linux::Output::open_derived(how.output + ".meta.json");
    written = description ? description->write(rows.describe(windows.head) + "\n") : fail(description.error());
  }
  return written ? command::exit_ok : command::report_error(written.error());
}

}  // namespace

std::string conversion_lines() {
  std::string text = "Formats:\n";
  for (const output::Kind kind : converted_kinds)
    text += fmt::format("  {:<12}  {}\n", output::source_name(kind),
                        output::format_names(kind == output::Kind::memory ? output::common(output::memory_formats())
                                                                          : output::formats_of(kind)));
  return text;
}

int convert(const std::vector<std::string>& files, const ResultOptions& how, const std::string& usual) {
  if (const auto file = read_stored(files.front())) {
    const output::Format* const format = output::recognised_format(reported_formats(), converted_kinds, *file);
    if (format != nullptr && format->kind != output::Kind::stat) {
      const auto results = stored_results(*file, format);
      if (!results) return command::report_error(results.error());
      const std::size_t count = std::max(files.size(), results->size());
      if (const auto* const memory = std::get_if<result::Memory>(&results->front()))
        return convert_memory(*memory, count, how, usual);
      if (const auto* const regions = std::get_if<result::ProgramRegions>(&results->front()))
        return convert_regions(*regions, count, how, usual);
      return convert_windows(std::get<result::Windows>(results->front()), files.size(), how, usual);
    }
  }
  const auto stats = read_stats(files);
  if (!stats) return command::report_error(stats.error());
  auto destination = Destination::open(how, usual, linux::Output::standard_output());
  if (!destination) return command::report_error(destination.error());
  return destination->write(*stats);
}

}  // namespace tally::results
