// A stored result of `tally lab --json`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::result {

/// A remark of the linter.
struct LabRemark {
  std::string severity;  ///< "wrong", "caution", "note"
  std::string text;
};

/// One event of the run.
struct LabEntry {
  std::string kind;   ///< "write", "overflow", …
  std::string place;  ///< "line 12"
  std::string address;
  std::uint64_t instruction = 0;
  std::string what;     ///< the register, counter or text that it concerns
  std::string value;    ///< hexadecimal, if there is one
  std::string meaning;  ///< description of the value
  std::string fault;    ///< why it was refused
  std::vector<LabRemark> remarks;
};

/// A line of the program.
struct LabLine {
  std::string address;
  int number = 0;
  std::string text;
  bool is_included = false;  ///< from an included helper file
};

struct LabRun {
  std::string file;
  std::string model;
  std::string end;  ///< in one sentence
  std::string hint;
  bool is_error = false;
  std::uint64_t instructions = 0;
  std::vector<std::pair<std::string, std::uint64_t>> counters;
  std::vector<LabRemark> remarks;
  std::vector<LabEntry> entries;
  std::vector<LabLine> listing;
  std::string drawn;  ///< JSON: the time line and register layouts that the page draws
};

/// Whether the text is a result of `tally lab`.
bool is_lab(std::string_view text);

/// Errors: bad_usage, with the location in the file that is damaged.
Result<LabRun> read_lab(std::string_view text, const std::string& file);

}  // namespace tally::result
