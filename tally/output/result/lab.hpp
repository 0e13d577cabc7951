// A run of `tally lab --json`, as it was stored.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::result {

/// What the linter said.
struct LabRemark {
  std::string severity;  ///< "wrong", "caution", "note"
  std::string text;
};

/// One thing that happened.
struct LabEntry {
  std::string kind;   ///< "write", "overflow", …
  std::string place;  ///< "line 12"
  std::string address;
  std::uint64_t instruction = 0;
  std::string what;     ///< the register, counter or text that it is about
  std::string value;    ///< hexadecimal, where there is one
  std::string meaning;  ///< of the value, in words
  std::string fault;    ///< why it was refused
  std::vector<LabRemark> remarks;
};

/// A line of the program.
struct LabLine {
  std::string address;
  int number = 0;
  std::string text;
  bool is_included = false;  ///< from the helpers
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
  std::string drawn;  ///< JSON: what the page draws, the time line and the layouts of registers
};

/// Whether the text is such a run.
bool is_lab(std::string_view text);

/// Errors: bad_usage, with the place in the file that is damaged.
Result<LabRun> read_lab(std::string_view text, const std::string& file);

}  // namespace tally::result
