// The files of `tally discover`.
#pragma once

#include <string>
#include <vector>

#include "programs/discovery/analysis/measurement_cells.hpp"
#include "tally/core/base/result.hpp"
#include "tally/output/kinds/format.hpp"

namespace tally::discover {

/// Reads the record of a sweep. Errors: bad_usage, with the file's name.
Result<Record> read_record_file(const std::string& path);

/// The format that `tally discover -o` writes. Its reader analyses the counts; errors: bad_usage, with the file's name.
const output::Format& sweep_format();

/// The declared properties of the library's payloads.
std::vector<Facts> library_facts();

}  // namespace tally::discover
