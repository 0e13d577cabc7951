#include "programs/results/merge_profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "programs/results/result_commands.hpp"
#include "programs/results/stored_code.hpp"
#include "tally/core/base/text.hpp"
#include "tally/counting/profile/resolve_profile.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/output/analysis/coverage.hpp"
#include "tally/output/analysis/profile_inlines.hpp"
#include "tally/output/kinds/profile_format.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/report/stored_files.hpp"

namespace tally::results {
namespace {

Result<result::StoredCode> read_all(const std::vector<std::string>& files) {
  Result<result::StoredCode> sum = fail(Code::bad_usage, "missing FILE");
  for (const std::string& name : files) {
    const auto file = report::read_stored(name);
    if (!file) return fail(file.error());
    auto code = result::read_code(file->text, name);
    if (!code) return code;
    if (&name == &files.front())
      sum = std::move(code);
    else if (const auto added = result::add_code(*sum, *code, name); !added)
      return fail(added.error());
  }
  return sum;
}

/// Merged runs have no calls.
Result<output::ProfileFormat> format_of(const std::string& name, const std::string& output) {
  std::vector<output::ProfileFormat> formats;
  std::copy_if(output::profile_formats().begin(), output::profile_formats().end(), std::back_inserter(formats),
               [](const output::ProfileFormat& format) { return !format.has_calls; });
  const auto format = output::choose_format(std::span<const output::ProfileFormat>(formats), name, output, "table");
  if (!format) return fail(format.error());
  return **format;
}

}  // namespace

void add_merge_options(command::Page& page, MergeOptions& options) {
  page.add_flag("--merge", options.merge,
                "add up profiles of several runs that `tally profile --format code` wrote, and write the sum in any "
                "format of tally profile without calls");
  page.add_option("--object", options.object, "with --merge: the program or library of --format bolt and order")
      .value_name("FILE");
  page.add_option("--include", options.include, "with --merge: as in tally profile").repeated().value_name("PATTERN");
  page.add_option("--fail-under", options.fail_under, "with --merge: as in tally profile").value_name("PERCENT");
  page.add_option("--exclude", options.exclude, "with --merge: as in tally profile").repeated().value_name("PATTERN");
}

int merge_profiles(const std::vector<std::string>& files, const MergeOptions& options,
                   const report::ProfileReport& table, const std::string& format_name, const std::string& output) {
  const auto format = format_of(format_name, output);
  if (!format) return report_error(format.error());
  std::optional<double> limit;
  if (!options.fail_under.empty()) {
    const auto percent = output::parse_coverage_limit(options.fail_under);
    if (!percent) return report_error(percent.error());
    if (!format->is_coverage)
      return report_error({Code::bad_usage, "--fail-under needs --format lcov or cobertura", "add --format lcov", 0});
    limit = *percent;
  }
  auto style = report::style_of(table);
  if (!style) return report_error(style.error());
  auto sum = read_all(files);
  if (!sum) return report_error(sum.error());
  const bool finds_inlines = format->inlined == output::InlineRepresentation::frames;
  result::Profile profile =
      profile::resolve(std::move(sum->code), std::move(sum->stat), {.of_rows = true},
                       finds_inlines ? profile::Inlines::yes : profile::Inlines::no,
                       format->is_coverage ? profile::Additions::coverage : profile::Additions::branches);
  hide_host(profile.stat.environment, *format);
  style->coverage = {options.include, options.exclude};
  if (output.empty() || output == "-") style->terminal = linux::terminal_columns(linux::Stream::output);
  if (format->of_one_file) {
    const std::string& program = profile.stat.command.empty() ? options.object : profile.stat.command.front();
    const std::string name = options.object.empty() ? program.substr(program.rfind('/') + 1) : options.object;
    const auto object = output::find_object(profile, name);
    if (!object) return report_error(object.error());
    style->object = *object;
  }
  for (const result::ProfileObject& object : profile.objects)
    if (object.identity && !object.why_nameless.empty())
      say({fmt::format("{}: {}: its code has no names", object.name, object.why_nameless)});
  output::CoverageCheck covered;
  if (format->is_coverage) {
    const std::string program = profile.stat.command.empty() ? "" : profile.stat.command.front();
    auto check = output::check_coverage(profile, style->coverage, limit, program.substr(program.rfind('/') + 1));
    if (!check) return report_error(check.error());
    covered = *std::move(check);
    for (const std::string& path : output::newer_sources(profile, *style)) say({path + output::newer_source});
  }
  const int code = command::write_text(output, format->write(profile, *style));
  if (!covered.notes.empty()) say(covered.notes);
  return code != command::exit_ok || covered.passes ? code : command::exit_no;
}

}  // namespace tally::results
