#include "tally/report/format.hpp"

#include <fmt/format.h>

#include "tally/report/intervals.hpp"

namespace tally::report {

std::span<const Format> formats() {
  static constexpr Format all[] = {
      {"table", "for people", table, nullptr, append_anything, nullptr, interval_lines},
      {"csv", "RFC 4180, one row for each count", csv, nullptr, append_csv, nullptr, interval_csv, true},
      {"json", "one object with everything", json, nullptr, append_json, nullptr, nullptr},
      {"hpctool", "instructions, cycles, ref-cycles and four more, as HPCTool writes them", hpctool, hpctool_columns,
       append_hpctool, fits_hpctool, nullptr, true, false},
  };
  return all;
}

const Format& fields_format() {
  static constexpr Format format{"fields", "as perf stat -x", fields, nullptr, append_anything,
                                 nullptr,  interval_fields,   false,  false};
  return format;
}

Result<void> fits_parts(const Format& format, bool of_parts) {
  if (!of_parts || format.has_parts) return {};
  return fail(
      Code::bad_usage,
      fmt::format("the format {} has no place for a part of a program (--function, --from, --trap): its rows are "
                  "those of all of it",
                  format.name),
      "`--format csv`, `json` and `table` have the rows of each part");
}

Result<Style> append_anything(std::string_view, Style style) { return style; }

}  // namespace tally::report
