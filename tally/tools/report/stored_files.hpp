// Reads files with results for `report` and `compare`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/kinds/format.hpp"

namespace tally::report {

/// Reads a file with results, and the description that was written with it; "-" is standard input. Unpacks files
/// of gzip. Reads a pipe only once and returns the same text afterwards. Errors: bad_usage.
Result<output::StoredFile> read_stored(const std::string& file);

/// The results in a file of one of these kinds, tried in this order. Errors: bad_usage, with the location; if no format
/// recognises the file, the error of reading it as a result of `tally stat`.
Result<std::vector<result::AnyResult>> stored_results(const output::StoredFile& file,
                                                      std::span<const output::Kind> kinds);
/// The same, for a file that is known to have this format; null: no format recognises it.
Result<std::vector<result::AnyResult>> stored_results(const output::StoredFile& file, const output::Format* format);

/// The counts of the only result of a file of `tally stat` or `tally profile`, which a history stores. Errors:
/// bad_usage.
Result<result::Stat> read_counts(const std::string& name);

/// The error for a file that tally wrote for another program and cannot read; no error for other files.
std::optional<Error> unreadable_file_error(const output::StoredFile& file);

/// Checks that writing to `output` does not overwrite one of the input files, before anything is lost. Errors:
/// bad_usage.
Result<void> check_not_read(const std::string& output, const std::vector<std::string>& files);

}  // namespace tally::report
