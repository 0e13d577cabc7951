#include "tally/cli/profiles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tally/base/text.hpp"
#include "tally/cli/command.hpp"
#include "tally/cli/page.hpp"
#include "tally/cli/stored.hpp"
#include "tally/linux/files/input.hpp"
#include "tally/linux/files/output.hpp"
#include "tally/report/profile.hpp"
#include "tally/report/profile_difference.hpp"
#include "tally/result/stored_profile.hpp"

namespace tally::cli {
namespace {

Result<report::ProfileBy> profile_by(const std::string& word) {
  for (const auto& [name, by] : {std::pair{"", report::ProfileBy::function},
                                 {"function", report::ProfileBy::function},
                                 {"line", report::ProfileBy::line},
                                 {"object", report::ProfileBy::object}})
    if (word == name) return by;
  return fail(Code::bad_usage, fmt::format("--by {} is not known of stored profiles", printable(word)),
              "they have functions, lines and objects");
}

Result<report::ProfileStyle> style_of(const ProfileReport& options) {
  report::ProfileStyle style;
  style.whole_names = options.whole_names;
  if (options.top) {
    if (*options.top < 0) return fail(Code::bad_usage, "--top is negative", "--top 0 shows all rows");
    style.most = static_cast<std::size_t>(*options.top);
  }
  const auto by = profile_by(options.by);
  if (!by) return fail(by.error());
  style.by = *by;
  return style;
}

/// What the output's name asks for: a page, JSON, or a table.
std::string format_of(const ProfileReport& options, const std::string& output) {
  if (!options.format.empty()) return options.format;
  for (const char* ending : {"html", "json"})
    if (output.ends_with(std::string(".") + ending)) return ending;
  return "table";
}

Result<std::string> text_of(const std::vector<result::Profile>& profiles, const report::ProfileStyle& style,
                            const std::string& format) {
  if (profiles.size() == 1) {
    if (format == "html" || format == "table")
      for (const report::ProfileFormat& one : report::profile_formats())
        if (one.name == format) return one.write(profiles.front(), style);
    return fail(Code::bad_usage, fmt::format("--format {} is none of a stored profile", printable(format)),
                "html or table");
  }
  for (const report::DifferenceFormat& one : report::difference_formats()) {
    if (one.name != format) continue;
    const auto difference = report::difference_of(profiles[0], profiles[1]);
    if (!difference) return fail(difference.error());
    return one.write(*difference, style);
  }
  return fail(Code::bad_usage, fmt::format("--format {} is none of a difference", printable(format)),
              "table, html or json");
}

}  // namespace

void add_profile_options(Page& page, ProfileReport& options) {
  page.add_option("--format", options.format,
                  "of profiles: table (default), html, json; else what the output's name ends with")
      .value_name("FORMAT");
  page.add_option("--by", options.by, "of profiles, what a row of the table is: function (default), line, object")
      .value_name("WHAT");
  page.add_option("--top", options.top, "of profiles: rows of the table (40); 0: all").value_name("N");
  page.add_flag("--full-names", options.whole_names, "of profiles: functions of C++ and Rust with their parameters");
}

Result<std::vector<result::Profile>> stored_profiles(const std::vector<std::string>& files) {
  std::vector<result::Profile> profiles;
  for (const std::string& file : files) {
    const auto text = read_stored(file);
    if (!text) return fail(text.error());
    if (!result::is_profile(*text)) continue;
    auto profile = result::read_profile(*text, file);
    if (!profile) return fail(profile.error());
    profiles.push_back(*std::move(profile));
  }
  if (profiles.empty() || (profiles.size() == files.size() && profiles.size() <= 2)) return profiles;
  if (profiles.size() < files.size())
    return fail(Code::bad_usage, "among these files are profiles and others",
                "two profiles are compared, others make a page of their own");
  return fail(Code::bad_usage, "profiles are told of one by one, or as the difference of two",
              "tally report before.json after.json");
}

int report_profiles(const std::vector<result::Profile>& profiles, const ProfileReport& options,
                    const std::string& output, const std::vector<std::string>& files) {
  const auto style = style_of(options);
  if (!style) return report_error(style.error());
  if (const auto apart = check_not_read(output, files); !apart) return report_error(apart.error());
  const auto text = text_of(profiles, *style, format_of(options, output));
  if (!text) return report_error(text.error());
  if (output.empty() || output == "-") return print(*text);
  auto file = linux::Output::open_file(output);
  if (!file) return report_error(file.error());
  const auto written = file->write(*text);
  return written ? exit_ok : report_error(written.error());
}

}  // namespace tally::cli
