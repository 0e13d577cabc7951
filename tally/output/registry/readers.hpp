// Readers of stored results, with the signatures of the registry's rows (formats.cpp).
#pragma once

#include <vector>

#include "tally/output/kinds/format.hpp"

namespace tally::output {

/// The result of a reader. Errors: bad_usage with the file's name and the problem.
using AnyResults = Result<std::vector<result::AnyResult>>;

bool is_stat_json(const StoredFile& file);
AnyResults read_stat_json(const StoredFile& file);

/// Rows do not contain complete results: they are recognised, but not read.
bool is_stat_csv(const StoredFile& file);

bool is_stat_hpctool(const StoredFile& file);
AnyResults read_stat_hpctool(const StoredFile& file);

bool is_memory_json(const StoredFile& file);
AnyResults read_memory_json(const StoredFile& file);

bool is_profile_json(const StoredFile& file);
AnyResults read_profile_json(const StoredFile& file);

bool are_windows_csv(const StoredFile& file);
bool are_windows_lines(const StoredFile& file);
/// HPCTool's files of windows and of runs begin alike: the description decides, else the rows.
bool are_windows_hpctool(const StoredFile& file);
AnyResults read_windows(const StoredFile& file);

bool is_verify_json(const StoredFile& file);
AnyResults read_verify_json(const StoredFile& file);

bool is_lab_json(const StoredFile& file);
AnyResults read_lab_json(const StoredFile& file);

bool is_regions_json(const StoredFile& file);
AnyResults read_regions_json(const StoredFile& file);

}  // namespace tally::output
