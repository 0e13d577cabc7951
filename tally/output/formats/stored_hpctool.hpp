// The files of HPCTool, read.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/result/stat.hpp"
#include "tally/output/result/windows_table.hpp"

namespace tally::result {

/// Whether a text begins as HPCTool's files do: with the names of its seven columns.
bool is_hpctool(std::string_view text);

/// A row of such a file, and what its columns are of.
using HpctoolRow = std::array<std::int64_t, 7>;
using HpctoolNames = std::array<std::string, 7>;

/// The rows of such a file. Errors: bad_usage, with the line, where a row is not seven integers, and for none.
Result<std::vector<HpctoolRow>> hpctool_rows(std::string_view text, const std::string& name);

/// The events of its columns: as the JSON beside it has them (`columns`), else as HPCTool calls them.
HpctoolNames hpctool_names(std::string_view description);

/// What is striking about the rows: counters that go in steps, or never change.
std::vector<std::string> hpctool_notices(const std::vector<HpctoolRow>& rows);

/// Whether the rows are windows, of HPCTool's sampling mode: most are as many instructions long, but for the skid of an
/// interrupt, none is much longer, and the last one, which the end of the program cut, is shorter.
bool are_hpctool_windows(std::string_view text);

/// Such a file whose rows are windows. Errors: those of hpctool_rows().
Result<Windows> read_hpctool_windows(std::string_view text, const std::string& name, std::string_view description);

/// What such a file holds. Its rows say neither which events the four counters had nor who counted: `description` does,
/// the JSON that tally writes beside such a file; empty where there is none. Where that is of these rows, number by
/// number, its results are returned, each count with the trust that it was measured with. Else the rows are runs of one
/// result, believed as far as a file can be; what is striking about them are its notices, and a description gives no
/// more than names (its `columns`). A column that is 0 in every row is absent: that counter did not count. Errors:
/// bad_usage, with the line, where a row is not seven integers; `name` is the file's, for the message.
Result<std::vector<Stat>> read_hpctool(std::string_view text, const std::string& name,
                                       std::string_view description = {});

}  // namespace tally::result
