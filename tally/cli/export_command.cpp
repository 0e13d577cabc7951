#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/cli/command_page.hpp"
#include "tally/cli/commands.hpp"
#include "tally/cli/own_provenance.hpp"
#include "tally/cli/result_output.hpp"
#include "tally/cli/stored_files.hpp"
#include "tally/cli/terminal_output.hpp"
#include "tally/cli/write_windows.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/files/output_file.hpp"
#include "tally/output/kinds/memory_format.hpp"
#include "tally/output/kinds/windows_format.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/output/registry/formats.hpp"

namespace tally::cli {
namespace {

struct ExportOptions {
  std::vector<std::string> files;
  ResultOptions results;
};

// The kinds that it reads, in the order in which they are tried. Rows of HPCTool are read as runs, unless
// tally describes them as windows.
constexpr output::Kind exported_kinds[] = {output::Kind::stat, output::Kind::memory, output::Kind::windows};

constexpr const char* export_examples =
    "A file holds one result, or one result per line, as written by --append. Several results are written one after "
    "the other, with their runs numbered consecutively. --per-process and --per-thread need a file that contains "
    "processes and threads. Each row of an HPCTool file is a run, unless tally wrote the rows as windows.\n"
    "\n"
    "Examples:\n"
    "  tally stat --format json -o result.json -- ./prog\n"
    "  tally export result.json >result.csv\n"
    "  tally export --format table --per-process result.json\n"
    "  tally export --format table hpcoutput-sampl.csv\n"
    "  tally export --format table memory.json\n"
    "  tally export --format chrome-trace windows.csv.gz -o trace.json\n";

// The output formats of each kind.
std::string format_table() {
  std::string text = "Formats:\n";
  for (const output::Kind kind : exported_kinds)
    text += fmt::format("  {:<12}  {}\n", output::source_name(kind), output::format_names(output::formats_of(kind)));
  return text;
}

void describe(Page& page, ExportOptions& options) {
  page.head("Convert stored results of tally stat, tally sample, tally memory or HPCTool to another format.",
            "tally export [options] FILE…");
  page.add_option("FILE", options.files, "a file with stored results, in one of the formats below");
  add_result_options(page, options.results, "csv", "(default: standard output)");
  page.footer(output::reader_lines(all_formats(), exported_kinds) + "\n" + format_table() + "\n" + export_examples);
}

// The error for results that only other commands read.
Error other_command(const output::StoredFile& file, output::Kind kind) {
  const std::string name = printable(file.name);
  std::string hint = fmt::format("`tally report {} -o page.html` makes a page of it", name);
  if (kind == output::Kind::profile)
    hint = fmt::format(
        "`tally report {0}` prints a table, `tally report {0} -o page.html` makes a page; `tally profile --format` "
        "writes the others: {1}",
        name, output::format_names(output::formats_of(kind)));
  return {Code::bad_usage,
          fmt::format("'{}' is a result of `{}`, which `tally export` cannot convert", name, output::source_name(kind)),
          std::move(hint), 0};
}

// Rejects files that are recognised but not read here. Errors: bad_usage.
Result<void> check_known(const output::StoredFile& file) {
  if (auto why = unreadable_file_error(file)) return fail(*std::move(why));
  constexpr output::Kind others[] = {output::Kind::profile, output::Kind::discovery, output::Kind::lab,
                                     output::Kind::verify, output::Kind::regions};
  if (const auto* const other = output::recognised_format(all_formats(), others, file))
    return fail(other_command(file, other->kind));
  return {};
}

Result<std::vector<result::Stat>> read_stats(const std::vector<std::string>& files) {
  std::vector<result::Stat> all;
  for (const std::string& name : files) {
    const auto file = read_stored(name);
    if (!file) return fail(file.error());
    if (output::recognised_format(all_formats(), {exported_kinds, 1}, *file) == nullptr)
      if (auto known = check_known(*file); !known) return fail(known.error());
    auto results = stored_results(*file, {exported_kinds, 1});
    if (!results) return fail(results.error());
    for (result::AnyResult& one : *results) all.push_back(std::get<result::Stat>(std::move(one)));
  }
  return all;
}

// Exports one result of `tally memory`; the output is the same as from `tally memory` itself.
int export_memory(const std::vector<result::AnyResult>& results, const ExportOptions& options) {
  const ResultOptions& how = options.results;
  const auto format = output::choose_format(output::memory_formats(), how.format, how.output, "csv");
  if (!format) return report_error(format.error());
  if (options.files.size() > 1 || results.size() > 1) {
    return report_error({Code::bad_usage, "results of `tally memory` can only be written one at a time",
                         "`tally report` makes one page of several results", 0});
  }
  if (how.append || how.separator || !how.description.empty() || how.style.per_process || how.style.per_thread) {
    return report_error({Code::bad_usage, "only --format and -o can be used with a result of `tally memory`",
                         "the other options are for results of `tally stat`", 0});
  }
  result::Memory memory = std::get<result::Memory>(results.front());
  if (const auto supported = output::check_task(**format, memory.task); !supported) {
    return report_error(supported.error());
  }
  auto output = how.output.empty() || how.output == "-" ? Result<linux::Output>(linux::Output::standard_output())
                                                        : linux::Output::open_file(how.output);
  if (!output) return report_error(output.error());
  hide_host(memory.environment, **format);
  if (const auto done = output->write((*format)->write(memory, terminal_columns(*output))); !done)
    return report_error(done.error());
  const auto described = describe_csv(**format, how.output, output::memory_json(memory));
  return described ? exit_ok : report_error(described.error());
}

// The output format for a file of windows. Errors: bad_usage.
Result<const output::WindowFormat*> window_format_of(const ExportOptions& options) {
  const ResultOptions& how = options.results;
  const auto format = output::choose_format(output::window_formats(), how.format, how.output, "csv");
  if (!format) return format;
  if (options.files.size() > 1)
    return fail(Code::bad_usage, "files of windows can only be written one at a time",
                "run `tally export` once for each file");
  if (how.append || how.separator || !how.description.empty() || how.style.per_process || how.style.per_thread)
    return fail(Code::bad_usage, "only --format and -o can be used with a file of windows",
                "the other options are for results of `tally stat`");
  return format;
}

// Exports a file of windows.
int export_windows(const result::Windows& windows, const ExportOptions& options) {
  const auto chosen = window_format_of(options);
  if (!chosen) return report_error(chosen.error());
  const output::WindowFormat& format = **chosen;
  const ResultOptions& how = options.results;
  if (!windows.notices.empty()) say(windows.notices);
  if (format.fits != nullptr) {
    std::vector<EventName> names;
    for (const result::EventCount& event : windows.head.events) names.push_back(event.name);
    if (const auto fits = format.fits(names); !fits) return report_error(fits.error());
  }
  auto output = how.output.empty() || how.output == "-" ? Result<linux::Output>(linux::Output::standard_output())
                                                        : linux::Output::open_file(how.output);
  if (!output) return report_error(output.error());
  if (const auto allowed = check_binary_output(format, *output); !allowed) return report_error(allowed.error());
  const bool is_file = output->is_file();
  WindowRows rows(format, std::move(*output));
  rows.begin(windows.head);
  result::visit_by_time(windows, [&](const result::Window& window) { rows.row(window); });
  auto written = rows.finish();
  if (written && format.needs_description && is_file) {
    auto description = linux::Output::open_file(how.output + ".meta.json");
    written = description ? description->write(rows.describe(windows.head) + "\n") : fail(description.error());
  }
  return written ? exit_ok : report_error(written.error());
}

}  // namespace

void describe_export(Page& page) {
  static ExportOptions unused;
  describe(page, unused);
}

int run_export(const std::vector<std::string>& arguments) {
  ExportOptions options;
  Page page;
  describe(page, options);
  if (const auto code = page.read(arguments)) return *code;
  if (options.files.empty()) {
    return report_error({Code::bad_usage, "missing FILE", "for example: tally export result.json", 0});
  }
  if (const auto apart = check_not_read(options.results.output, options.files); !apart)
    return report_error(apart.error());
  if (const auto file = read_stored(options.files.front())) {
    const output::Format* const format = output::recognised_format(all_formats(), exported_kinds, *file);
    if (format != nullptr && format->kind != output::Kind::stat) {
      const auto results = stored_results(*file, format);
      if (!results) return report_error(results.error());
      if (format->kind == output::Kind::memory) return export_memory(*results, options);
      return export_windows(std::get<result::Windows>(results->front()), options);
    }
  }
  const auto stats = read_stats(options.files);
  if (!stats) return report_error(stats.error());
  auto destination = Destination::open(options.results, "csv", linux::Output::standard_output());
  if (!destination) return report_error(destination.error());
  return destination->write(*stats);
}

}  // namespace tally::cli
