#include "tally/tools/report/result_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/common_options.hpp"
#include "tally/tools/command/option_groups.hpp"
#include "tally/tools/command/own_provenance.hpp"

namespace tally::report {
namespace {

Result<const output::StatFormat*> format_of(const ResultOptions& options, const std::string& usual) {
  if (options.separator && options.separator->empty()) {
    return fail(Code::bad_usage, "-x has an empty separator", "for example: -x ,  or  -x '\\t'");
  }
  if (options.perf_json) {
    if (!options.format.empty() || options.separator)
      return fail(Code::bad_usage, "-j cannot be used with --format and -x", "use only one of them");
    return &output::perf_json_format();
  }
  if (options.separator && options.format.empty()) return &output::fields_format();
  const auto format = output::choose_format(output::stat_formats(), options.format, options.output, usual);
  if (!format) return format;
  if (options.separator && (*format)->name != "csv") {
    return fail(Code::bad_usage, fmt::format("-x cannot be used with --format {}", options.format),
                "-x alone writes the fields of `perf stat -x`; with --format csv it sets the separator");
  }
  if (options.separator && options.separator->size() != 1 && *options.separator != "\\t") {
    return fail(Code::bad_usage, "the separator of --format csv must be one character", "for example: -x ';'");
  }
  return format;
}

Result<void> check(const ResultOptions& options) {
  const bool to_file = !options.output.empty() && options.output != "-";
  if (options.append && !to_file) {
    return fail(Code::bad_usage, "--append needs a file to append to", "add -o FILE");
  }
  return {};
}

}  // namespace

void add_result_options(command::Page& page, ResultOptions& options, const std::string& usual,
                        const std::string& stream) {
  page.add_option("-o,--output", options.output, "write the results to FILE, - for standard output " + stream)
      .output_file();
  const auto formats = output::common(output::stat_formats());
  command::add_format_option(page, options.format, formats, output::format_help(formats, usual));
  const command::GroupScope group(page, command::output_group);
  page.add_option("-x,--field-separator", options.separator,
                  "write the fields of `perf stat -x`, separated by SEP; with --format csv: separate columns by SEP")
      .value_name("SEP");
  page.add_flag(
      "-j,--json-output", options.perf_json,
      "write the JSON lines of `perf stat -j`, one object per event, with trust; `--format json` has all data");
  page.add_flag("--append", options.append, "with -o: append to FILE instead of replacing it");
  page.add_option("--meta", options.description,
                  "write a JSON description of the measurement to FILE (default for csv and hpctool with -o NAME: "
                  "NAME.meta.json; with --append: NAME.meta.jsonl)")
      .output_file();
  command::add_host_option(page);
  page.add_flag("--per-process", options.style.per_process, "also report the counts of each process");
  page.add_flag("--per-thread", options.style.per_thread, "also report the counts of each thread");
}

Result<Destination> Destination::open(const ResultOptions& options, const std::string& usual, linux::Output stream) {
  const auto format = format_of(options, usual);
  if (!format) return fail(format.error());
  if (const auto checked = check(options); !checked) return fail(checked.error());
  output::Style style = options.style;
  if (options.separator) style.separator = *options.separator == "\\t" ? "\t" : *options.separator;

  const bool to_file = !options.output.empty() && options.output != "-";
  auto output =
      !to_file ? Result<linux::Output>(options.output == "-" ? linux::Output::standard_output() : std::move(stream))
      : options.append ? linux::Output::open_to_append(options.output)
                       : linux::Output::open_file(options.output);
  if (!output) return fail(output.error());
  Destination destination(**format, style, std::move(*output));
  destination.stream_ = !to_file;
  if (!to_file)
    destination.style_.terminal =
        linux::terminal_columns(destination.output_.is_standard_error() ? linux::Stream::error : linux::Stream::output);
  if (options.output.ends_with(".jsonl")) destination.style_.one_line = true;
  if (options.append) {
    destination.appends_to_ = options.output;
    destination.style_.one_line = true;
    if (const auto fits = destination.continue_file(); !fits) return fail(fits.error());
  }
  if (const auto opened = destination.open_description(options); !opened) return fail(opened.error());
  return destination;
}

Result<void> Destination::continue_file() {
  const auto existing = output_.existing();
  if (!existing) return fail(existing.error());
  if (existing->empty()) return {};
  auto continued = format_->append(*existing, style_);
  if (!continued) {
    Error error = continued.error();
    error.message = fmt::format("'{}': {}", printable(appends_to_), error.message);
    return fail(error);
  }
  style_ = *continued;
  before_ = existing->back() != '\n' ? "\n" : "";
  return {};
}

Result<void> Destination::open_description(const ResultOptions& options) {
  std::string path = options.description;
  description_in_lines_ = options.append;
  if (path.empty() && format_->needs_description && output_.is_file()) {
    path = options.output + (options.append ? ".meta.jsonl" : ".meta.json");
  }
  if (path.empty()) return {};
  if (linux::same_file(path, options.output)) {
    return fail(Code::bad_usage, fmt::format("-o and --meta name the same file, '{}'", printable(path)),
                "use another file for --meta");
  }
  auto file = options.description.empty() ? linux::Output::open_derived(path, options.append)
              : options.append            ? linux::Output::open_to_append(path)
                                          : linux::Output::open_file(path);
  if (!file) return fail(file.error());
  description_.emplace(std::move(*file));
  return {};
}

Result<std::string> Destination::text(std::span<const result::Stat> stats) const {
  std::string whole;
  output::Style style = style_;
  if (stats.size() > 1) style.one_line = true;
  for (const result::Stat& stat : stats) {
    if (stat.of_parts && !format_->has_parts) return fail(output::parts_error(*format_));
    result::Stat shown = stat;
    command::hide_host(shown.environment, *format_);
    auto one = format_->write(shown, style);
    if (!one) return fail(one.error());
    whole += *one;
    style.header = false;
    style.first_run += static_cast<int>(stat.runs.size());
  }
  return before_ + whole;
}

Result<void> Destination::write_description(std::span<const result::Stat> stats) {
  if (!description_) return {};
  output::Style style = style_;
  style.one_line = description_in_lines_ || stats.size() > 1;
  std::string text;
  for (const result::Stat& stat : stats) text += output::description(stat, style, *format_);
  return description_->write(text);
}

Result<void> Destination::print_interval(const result::Interval& interval) {
  auto written = print(format_->live(interval, style_));
  style_.header = false;
  style_.intervals = false;
  return written;
}

Result<std::string> Destination::whole_text(std::span<const result::Stat> stats) {
  if (!appends_to_.empty()) {
    // Other processes may have written to the file since it was opened, and may have written its header.
    if (auto locked = output_.lock(); !locked) return fail(locked.error());
    if (auto fits = continue_file(); !fits) return fail(fits.error());
  }
  return text(stats);
}

int Destination::write(std::span<const result::Stat> stats) {
  const auto whole = whole_text(stats);
  const auto written = whole ? output_.write(*whole) : Result<void>(fail(whole.error()));
  const auto described = write_description(stats);
  if (written && described) return command::exit_ok;
  const int code = command::report_error(written ? described.error() : written.error());
  if (code == command::exit_ok || written || (output_.is_standard_error() && whole)) return code;
  for (const result::Stat& stat : stats) {
    const auto table = output::table(stat, style_);
    if (table) (void)linux::Output::standard_error().write(*table);
  }
  return code;
}

}  // namespace tally::report
