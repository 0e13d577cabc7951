#include "tally/output/registry/formats.hpp"

#include <algorithm>
#include <iterator>

#include "tally/output/analysis/in_line.hpp"
#include "tally/output/analysis/whole_functions.hpp"
#include "tally/output/data/chrome_trace.hpp"
#include "tally/output/kinds/comparison_format.hpp"
#include "tally/output/kinds/intervals.hpp"
#include "tally/output/kinds/page_format.hpp"
#include "tally/output/kinds/profile_forms.hpp"
#include "tally/output/kinds/regions_format.hpp"
#include "tally/output/kinds/snippet_format.hpp"
#include "tally/output/kinds/stat_format.hpp"
#include "tally/output/kinds/windows_format.hpp"
#include "tally/output/registry/readers.hpp"

namespace tally::output {
namespace {

// Formats for programs do not depend on the terminal.
template <auto write>
std::string write_for_any_terminal(const auto& result, std::size_t /*terminal*/) {
  return write(result);
}

template <std::unique_ptr<WindowWriter> (*make)()>
std::unique_ptr<WindowWriter> make_for_any_terminal(std::size_t /*terminal*/) {
  return make();
}

// A row begins with the common members of all formats: kind, name, file names that select it, summary, reader,
// recogniser. The writers of the kind follow.

Result<std::string> stat_html(const result::Stat& stat, const Style& style) {
  return html_page({{"", shown_parts(stat, style)}});
}

constexpr StatFormat stat_rows[] = {
    {table_of(Kind::stat), table, nullptr, append_anything, nullptr, interval_lines},
    {{Kind::stat, "csv", ".csv", "RFC 4180, one row per count", nullptr, is_stat_csv},
     csv,
     nullptr,
     append_csv,
     nullptr,
     interval_csv,
     true},
    {{Kind::stat, "json", ".json .jsonl", "one object with all data", read_stat_json, is_stat_json},
     json,
     nullptr,
     append_json,
     nullptr,
     nullptr},
    {{Kind::stat, "markdown", ".md", "tables for a comment"},
     stat_markdown,
     nullptr,
     append_anything,
     nullptr,
     nullptr},
    {page_of(Kind::stat, ".html .htm", "a page"), stat_html, nullptr, append_no_page, nullptr, nullptr},
    {{Kind::stat, "hpctool", "", "HPCTool's seven columns: instructions, cycles, ref-cycles and four more",
      read_stat_hpctool, is_stat_hpctool},
     hpctool,
     hpctool_columns,
     append_hpctool,
     fits_hpctool,
     nullptr,
     true,
     false},
};

constexpr StatFormat perf_fields{{Kind::stat, "fields", "", "the fields of perf stat -x"},
                                 fields,
                                 nullptr,
                                 append_anything,
                                 nullptr,
                                 interval_fields,
                                 false,
                                 false};

constexpr StatFormat perf_json_lines{{Kind::stat, "perf-json", "", "the JSON lines of perf stat -j"},
                                     perf_json,
                                     nullptr,
                                     append_anything,
                                     nullptr,
                                     interval_perf_json,
                                     false,
                                     false};

constexpr SnippetFormat snippet_rows[] = {
    {table_of(Kind::assembly), snippet_table},
    {{Kind::assembly, "csv", ".csv", "one row per event and chain"}, write_for_any_terminal<snippet_csv>},
    {{Kind::assembly, "json", ".json", "one JSON object"}, write_for_any_terminal<snippet_json>},
};

constexpr ProfileFormat profile_rows[] = {
    {table_of(Kind::profile), {.works_for_stored = true}, of_whole_functions<in_line<profile_table>>},
    {{Kind::profile, "callgrind", "callgrind.out*", "callgrind's file format, for KCachegrind and callgrind_annotate"},
     {.has_lines = true, .inlined = InlineRepresentation::lines},
     in_line<profile_callgrind>},
    {{Kind::profile, "cachegrind", "cachegrind.out*", "cachegrind's file format, for cg_annotate and cg_diff"},
     {.has_lines = true, .inlined = InlineRepresentation::lines},
     in_line<profile_cachegrind>},
    {{Kind::profile, "folded", ".folded .collapsed", "one line per stack, for flamegraph.pl"},
     {.has_calls = true},
     of_whole_functions<in_line<profile_folded>>},
    {{Kind::profile, "speedscope", ".speedscope.json", "for speedscope.app"},
     {.has_calls = true},
     of_whole_functions<in_line<profile_speedscope>>},
    {{Kind::profile, "pprof", ".pb.gz .pprof .pgo", "profile.proto, for go tool pprof and pprof", nullptr, nullptr,
      true},
     {.has_lines = true, .inlined = InlineRepresentation::frames},
     of_whole_functions<in_line<profile_pprof>>},
    {{Kind::profile, "autofdo", ".afdo", "LLVM's sample profile, for clang -fprofile-sample-use="},
     {.has_lines = true, .inlined = InlineRepresentation::frames, .needs_executions = true},
     in_line<profile_autofdo>},
    {{Kind::profile, "bolt", ".fdata", "BOLT's profile, for llvm-bolt -data="},
     {.inlined = InlineRepresentation::lines, .needs_executions = true, .of_one_file = true},
     profile_bolt},
    {{Kind::profile, "bolt-preagg", ".preagg", "branches and ranges of code, for perf2bolt -pa"},
     {.inlined = InlineRepresentation::lines, .needs_executions = true, .of_one_file = true},
     profile_bolt_preaggregated},
    {{Kind::profile, "order", ".order",
      "functions for lld --symbol-ordering-file, most executed or first executed first"},
     {.inlined = InlineRepresentation::lines, .needs_executions = true, .of_one_file = true},
     profile_order},
    {{Kind::profile, "lcov", ".info", "coverage of lines, functions and branches, for genhtml and lcov"},
     {.has_lines = true, .inlined = InlineRepresentation::frames, .needs_executions = true, .is_coverage = true},
     profile_lcov},
    {{Kind::profile, "cobertura", ".cobertura.xml", "the same in Cobertura's XML, for CI servers"},
     {.has_lines = true, .inlined = InlineRepresentation::frames, .needs_executions = true, .is_coverage = true},
     profile_cobertura},
    {{Kind::profile, "coverage", ".coverage.html", "the same as a page, with the source"},
     {.has_lines = true, .inlined = InlineRepresentation::frames, .needs_executions = true, .is_coverage = true},
     profile_coverage_page},
    {{Kind::profile, "code", ".code.json", "executions by address, for tally report --merge"},
     {.inlined = InlineRepresentation::lines, .needs_executions = true},
     profile_code},
    {page_of(Kind::profile, ".html", "a page with flame graph, functions, source lines and callers"),
     {.has_lines = true, .works_for_stored = true},
     of_whole_functions<in_line<profile_html>>},
    {{Kind::profile, "json", ".json", "one JSON object", read_profile_json, is_profile_json},
     {.has_lines = true},
     profile_json},
};

constexpr ComparisonFormat comparison_rows[] = {
    {table_of(Kind::comparison), comparison_table},
    {{Kind::comparison, "json", ".json", "one JSON object"}, comparison_json},
    {{Kind::comparison, "markdown", ".md", "a comment for a pull request"}, comparison_markdown},
    {page_of(Kind::comparison, ".html", "a page: verdicts, flame graphs, functions, source"), comparison_html},
};

constexpr WindowFormat window_rows[] = {
    {table_of(Kind::windows), make_window_table, nullptr, false, true},
    {{Kind::windows, "chart", "", "a bar for each window and event"}, make_window_chart},
    {{Kind::windows, "csv", ".csv", "for spreadsheets and data frames", read_windows, are_windows_csv},
     make_for_any_terminal<make_window_csv>,
     nullptr,
     true,
     true},
    {{Kind::windows, "jsonl", ".jsonl", "one JSON object per line; the first describes the measurement", read_windows,
      are_windows_lines},
     make_for_any_terminal<make_window_lines>,
     nullptr,
     false,
     true},
    {{Kind::windows, "hpctool", "", "HPCTool's seven columns", read_windows, are_windows_hpctool},
     make_for_any_terminal<make_window_hpctool>,
     fits_hpctool,
     true},
    {{Kind::windows, "csv.gz", ".csv.gz", "the same, compressed, for long runs", read_windows, are_windows_csv, true},
     make_for_any_terminal<make_window_csv_gz>,
     nullptr,
     true,
     true},
    {{Kind::windows, "chrome-trace", ".json", "opens in Perfetto's viewer and in chrome://tracing"},
     make_for_any_terminal<make_chrome_trace>},
};

// Results that separate programs write.
constexpr Format read_rows[] = {
    {Kind::memory, "json", ".json", "one object with all data", read_memory_json, is_memory_json},
    {Kind::lab, "json", ".json", "one JSON object", read_lab_json, is_lab_json},
    {Kind::verify, "json", ".json", "one JSON object", read_verify_json, is_verify_json},
};

}  // namespace

std::span<const StatFormat> stat_formats() { return stat_rows; }
const StatFormat& fields_format() { return perf_fields; }
const StatFormat& perf_json_format() { return perf_json_lines; }
std::span<const SnippetFormat> snippet_formats() { return snippet_rows; }
std::span<const ProfileFormat> profile_formats() { return profile_rows; }
std::span<const ComparisonFormat> comparison_formats() { return comparison_rows; }
std::span<const WindowFormat> window_formats() { return window_rows; }

const std::vector<const Format*>& formats() {
  static const std::vector<const Format*> all = [] {
    std::vector<const Format*> rows;
    const auto add = [&](const auto& table) {
      for (const Format& row : table) rows.push_back(&row);
    };
    add(stat_rows);
    add(snippet_rows);
    add(profile_rows);
    add(comparison_rows);
    add(window_rows);
    add(read_rows);
    add(regions_formats());
    return rows;
  }();
  return all;
}

std::vector<const Format*> formats_of(Kind kind) {
  std::vector<const Format*> rows;
  std::copy_if(formats().begin(), formats().end(), std::back_inserter(rows),
               [kind](const Format* row) { return row->kind == kind; });
  return rows;
}

}  // namespace tally::output
