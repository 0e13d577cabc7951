// The files of `tally discover`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/result/discovery_result.hpp"
#include "tally/tools/discovery/analysis/measurement_cells.hpp"

namespace tally::discover {

/// Reads the record of a sweep. Errors: bad_usage, with the file's name.
Result<Record> read_record_file(const std::string& path);

/// Whether a text looks like a file that `tally discover -o` wrote.
bool is_discovery(std::string_view text);

/// Analyses the counts in such a text. Errors: bad_usage, with the file's name.
Result<result::Discovery> discovery_of(std::string_view text, const std::string& file);

/// The declared properties of the library's payloads.
std::vector<Facts> library_facts();

}  // namespace tally::discover
