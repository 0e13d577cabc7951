// Results of other tools that `tally compare` reads. Each is recognised by its content.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/output/analysis/comparable.hpp"

namespace tally::report {

/// A tool and the reader of its files.
struct OtherTool {
  std::string_view name;  ///< of the tool, and its option: "hyperfine --export-json"
  bool (*recognise)(std::string_view text);
  /// Errors: bad_usage with the file's name and the problem.
  Result<Comparable> (*read)(std::string_view text, const std::string& name);
};

std::span<const OtherTool> other_tools();

bool is_google_benchmark(std::string_view text);
Result<Comparable> read_google_benchmark(std::string_view text, const std::string& name);

bool is_hyperfine(std::string_view text);
Result<Comparable> read_hyperfine(std::string_view text, const std::string& name);

bool is_perf_json(std::string_view text);
Result<Comparable> read_perf_json(std::string_view text, const std::string& name);

bool is_callgrind(std::string_view text);
Result<Comparable> read_callgrind(std::string_view text, const std::string& name);

}  // namespace tally::report
