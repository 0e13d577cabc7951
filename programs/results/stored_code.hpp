// Reads executions by address that were stored as JSON, and adds those of several runs.
#pragma once

#include <string>
#include <string_view>

#include "tally/core/base/result.hpp"
#include "tally/output/result/code_values.hpp"

namespace tally::result {

/// The counts of a run, or of several, with what is known of the first one.
struct StoredCode {
  Stat stat;
  CodeCounts code;  ///< with one owner
};

/// Whether a text looks like the format `code` of `tally profile`.
bool is_code(std::string_view text);

/// Reads it (docs/reference/code-json.md). Errors: bad_usage with the location if the text is something else; `name` is
/// the file's name, for messages.
Result<StoredCode> read_code(std::string_view text, const std::string& name);

/// Adds the counts of another run. Errors: bad_usage if the events differ, or if a file of code has other contents.
Result<void> add_code(StoredCode& sum, const StoredCode& more, const std::string& name);

}  // namespace tally::result
