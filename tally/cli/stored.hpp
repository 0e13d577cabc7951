// Files with results, as `export` and `report` read them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/formats/format.hpp"

namespace tally::cli {

/// The registry of all formats: those of `report`, and those that higher layers read.
const std::vector<const report::Format*>& all_formats();

/// What `tally discover -o` writes.
const report::Format& sweep_format();

/// A file with results, and the description that was written with it; "-" is standard input. A pipe is read once,
/// however often it is asked for. Errors: bad_usage.
Result<report::StoredFile> read_stored(const std::string& file);

/// The results in a file of one of these kinds, which are tried in their order. Errors: bad_usage, with the place;
/// where no format recognises the file, those of reading it as results of `tally stat`.
Result<std::vector<result::AnyResult>> stored_results(const report::StoredFile& file,
                                                      std::span<const report::Kind> kinds);
/// The same, of a file that is known to have this format; null: none recognises it.
Result<std::vector<result::AnyResult>> stored_results(const report::StoredFile& file, const report::Format* format);

/// Why neither a page nor another format can be made of a file, where tally wrote it for another program; nothing
/// where it did not.
std::optional<Error> why_not_read(const report::StoredFile& file);

/// Whether writing to `output` would take the place of one of the files that are read: refused before anything is lost.
/// Errors: bad_usage.
Result<void> check_not_read(const std::string& output, const std::vector<std::string>& files);

}  // namespace tally::cli
