#include "tally/report/format.hpp"

#include "tally/report/intervals.hpp"

namespace tally::report {

std::span<const Format> formats() {
  static constexpr Format all[] = {
      {"table", "for people", table, nullptr, append_anything, nullptr, interval_lines, false},
      {"csv", "RFC 4180, one row for each count", csv, nullptr, append_csv, nullptr, interval_csv, true},
      {"json", "one object with everything", json, nullptr, append_json, nullptr, nullptr, false},
      {"hpctool", "instructions, cycles, ref-cycles and four more, as HPCTool writes them", hpctool, hpctool_columns,
       append_hpctool, fits_hpctool, nullptr, true},
  };
  return all;
}

const Format& fields_format() {
  static constexpr Format format{"fields",        "as perf stat -x", fields,          nullptr,
                                 append_anything, nullptr,           interval_fields, false};
  return format;
}

Result<Style> append_anything(std::string_view, Style style) { return style; }

}  // namespace tally::report
