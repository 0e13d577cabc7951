#include "programs/results/report_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "tally/core/base/text.hpp"
#include "tally/linux/files/terminal_width.hpp"
#include "tally/output/kinds/profile_format.hpp"
#include "tally/output/registry/choose_format.hpp"
#include "tally/tools/command/command.hpp"
#include "tally/tools/command/command_page.hpp"
#include "tally/tools/command/own_provenance.hpp"
#include "tally/tools/report/source_reader.hpp"

namespace tally::report {

std::vector<output::ProfileFormat> formats_of_stored_profiles() {
  std::vector<output::ProfileFormat> all;
  std::copy_if(output::profile_formats().begin(), output::profile_formats().end(), std::back_inserter(all),
               [](const output::ProfileFormat& format) { return format.works_for_stored; });
  return all;
}

namespace {

Result<output::ProfileBy> profile_by(const std::string& word) {
  for (const auto& [name, by] : {std::pair{"", output::ProfileBy::function},
                                 {"function", output::ProfileBy::function},
                                 {"line", output::ProfileBy::line},
                                 {"object", output::ProfileBy::object}})
    if (word == name) return by;
  return fail(Code::bad_usage, fmt::format("--by {}: stored profiles do not contain it", printable(word)),
              "use function, line or object");
}

Result<std::string> text_of(result::Profile profile, const output::ProfileStyle& style, const std::string& name,
                            const std::string& output) {
  const auto formats = formats_of_stored_profiles();
  const auto format = output::choose_format(std::span<const output::ProfileFormat>(formats), name, output, "table");
  if (!format) return fail(format.error());
  command::hide_host(profile.stat.environment, **format);
  return (*format)->write(profile, style);
}

}  // namespace

Result<output::ProfileStyle> style_of(const ProfileReport& options) {
  output::ProfileStyle style;
  style.whole_names = options.whole_names;
  if (options.top) {
    if (*options.top < 0) return fail(Code::bad_usage, "--top must not be negative", "--top 0 shows all rows");
    style.most = static_cast<std::size_t>(*options.top);
  }
  const auto by = profile_by(options.by);
  if (!by) return fail(by.error());
  style.by = *by;
  style.source = source_reader();
  return style;
}

void add_profile_options(command::Page& page, ProfileReport& options) {
  page.add_option("--by", options.by, "profiles: one row per function (default), line, object").value_name("ROWS");
  page.add_option("--top", options.top, "profiles: rows of the table; 0: all (default: 40)").value_name("N");
  page.add_flag("--full-names", options.whole_names, "profiles: print C++ and Rust functions with their parameters");
}

int report_profile(const result::Profile& profile, const ProfileReport& options, const std::string& format,
                   const std::string& output) {
  auto style = style_of(options);
  if (!style) return command::report_error(style.error());
  if (output.empty() || output == "-") style->terminal = linux::terminal_columns(linux::Stream::output);
  const auto text = text_of(profile, *style, format, output);
  if (!text) return command::report_error(text.error());
  return command::write_text(output, *text);
}

}  // namespace tally::report
