#include "tally/output/registry/choose_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "tally/core/base/text.hpp"
#include "tally/output/registry/formats.hpp"

namespace tally::output {
namespace {

// ".gz" of "out/a.json.gz"; empty if the file name has no dot, or nothing before it.
std::string_view ending_of(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? "" : name.substr(dot);
}

// Whether an ending is a file type. Numbers, dates and mktemp's suffixes are not.
bool is_file_type(std::string_view ending) {
  constexpr std::size_t longest = 9;  // with the dot
  if (ending.size() < 2 || ending.size() > longest) return false;
  if (ending == ".txt" || ending == ".log" || ending == ".out") return false;
  return std::any_of(ending.begin() + 1, ending.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
}

}  // namespace

Result<void> check_ending(std::string_view output, const std::vector<const Format*>& formats, bool has_option) {
  const auto asks = [&](const Format* format) { return matched_name_length(*format, output) > 0; };
  if (std::any_of(formats.begin(), formats.end(), asks)) return {};
  const std::vector<const Format*>& every = output::formats();
  if (!is_file_type(ending_of(output)) && std::none_of(every.begin(), every.end(), asks)) return {};
  std::string hint = "the suffixes are: " + join(endings_of(formats), ", ");
  if (has_option) hint += fmt::format("; or name the format: --format {}", join(names_of(formats), "|"));
  return fail(Code::bad_usage,
              fmt::format("no format of this command has the file name suffix of '{}'", printable(output)),
              std::move(hint));
}

Error unknown_format(std::string_view name, const std::vector<const Format*>& formats) {
  // Formats that earlier versions had, and what replaces them.
  constexpr std::pair<std::string_view, std::string_view> former_names[] = {{"binary", "csv.gz"}};
  std::string hint = "the formats are: " + format_names(formats);
  for (const auto& [former, current] : former_names)
    for (const Format* const format : formats)
      if (former == name && format->name == current) hint = fmt::format("use --format {}", current);
  return {Code::bad_usage, fmt::format("unknown format '{}'", printable(std::string(name))), std::move(hint), 0};
}

}  // namespace tally::output
