// Results of other tools that `tally compare` reads. Each is recognised by its content.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/output/analysis/comparable.hpp"

namespace tally::output {

/// A tool and the reader of its files.
struct OtherTool {
  std::string_view name;  ///< of the tool, and its option: "hyperfine --export-json"
  bool (*recognise)(std::string_view text);
  /// Errors: bad_usage with the file's name and the problem.
  Result<Comparable> (*read)(std::string_view text, const std::string& name);
};

std::span<const OtherTool> other_tools();

/// Quotes what some tools write for numbers although it is not JSON: NaN, Infinity, and 1,5 of a locale with decimal
/// commas. So the rest of the file can be read.
std::string quote_wrong_numbers(std::string_view json);

/// Whether a text is such a number.
bool is_wrong_number(std::string_view text);

/// The reason why a text or null, where a number belongs, cannot be compared.
std::string not_a_number(std::string_view text);

/// Removes the values of a quantity that was not measured.
void mark_absent(Measure& measure, std::string reason);

/// Prepares two results for a comparison. If one lists a single benchmark, whose measures have no name, and the other
/// several, it gets its name, so that only benchmarks of the same name are compared. Several benchmarks of one name are
/// compared by position, with a note, if both results have as many; otherwise they cannot be compared.
void pair_benchmarks(Comparable& before, Comparable& after);

bool is_google_benchmark(std::string_view text);
Result<Comparable> read_google_benchmark(std::string_view text, const std::string& name);

bool is_hyperfine(std::string_view text);
Result<Comparable> read_hyperfine(std::string_view text, const std::string& name);

bool is_pytest_benchmark(std::string_view text);
Result<Comparable> read_pytest_benchmark(std::string_view text, const std::string& name);

bool is_criterion(std::string_view text);
Result<Comparable> read_criterion(std::string_view text, const std::string& name);

bool is_perf_json(std::string_view text);
Result<Comparable> read_perf_json(std::string_view text, const std::string& name);

bool is_callgrind(std::string_view text);
Result<Comparable> read_callgrind(std::string_view text, const std::string& name);

}  // namespace tally::output
