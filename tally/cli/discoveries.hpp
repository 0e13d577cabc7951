// Files of `tally discover`.
#pragma once

#include <optional>
#include <string>

#include "tally/base/result.hpp"
#include "tally/discover/analysis/record.hpp"

namespace tally::cli {

/// What a file holds; nothing where it cannot be read.
std::optional<std::string> read_text(const std::string& path);

/// Errors: bad_usage with the file's name.
Result<discover::Record> read_record_file(const std::string& path);

std::string discover_header(const discover::Record& record);
std::string run_text(const discover::Run& run);

}  // namespace tally::cli
