// Reads the files of HPCTool.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/output/result/stat_result.hpp"
#include "tally/output/result/windows_table.hpp"

namespace tally::result {

/// Whether a text begins like a file of HPCTool: with the names of its seven columns.
bool is_hpctool(std::string_view text);

/// A row of such a file, and the events of its columns.
using HpctoolRow = std::array<std::int64_t, 7>;
using HpctoolNames = std::array<std::string, 7>;

/// Reads the rows of such a file. Errors: bad_usage with the line if a row is not seven integers, and without rows.
Result<std::vector<HpctoolRow>> hpctool_rows(std::string_view text, const std::string& name);

/// The events of its columns: from `columns` of the JSON next to it, else HPCTool's names.
HpctoolNames hpctool_names(std::string_view description);

/// Notices about conspicuous rows: counters that advance in steps or never change.
std::vector<std::string> hpctool_notices(const std::vector<HpctoolRow>& rows);

/// Whether the rows are windows from HPCTool's sampling mode: most have the same number of instructions plus an
/// interrupt's skid, none is much longer, and the last one, cut by the program's end, is shorter.
bool are_hpctool_windows(std::string_view text);

/// What the JSON next to rows of windows contains about each row, which the columns lack.
struct HpctoolOrigins {
  struct Thread {
    std::uint32_t series = 0;
    std::int64_t pid = 0, tid = 0;
    std::string program;
  };
  std::vector<Thread> threads;
  std::vector<std::size_t> thread;              ///< of each row: index in `threads`
  std::vector<std::int64_t> time_ns, triggers;  ///< of each row; trigger −1: the thread's end
  std::size_t trigger_count = 0;
};

/// Returns what the JSON contains about these rows; nothing if it describes others, or no rows.
std::optional<HpctoolOrigins> hpctool_origins(const std::vector<HpctoolRow>& rows, std::string_view description);

/// Reads such a file if its rows are windows: of the threads that the description names, or of one program. Errors:
/// those of hpctool_rows().
Result<Windows> read_hpctool_windows(std::string_view text, const std::string& name, std::string_view description);

/// Reads such a file. Its rows contain neither the events of the four counters nor the backend, but `description` does:
/// the JSON that tally writes next to such a file; empty if there is none. If its results equal the rows number by
/// number, they are returned with the trust that each count was measured with. Else the rows are runs of one result
/// with trust partial, notices report conspicuous rows, and the description only provides names (its `columns`). A
/// column that is 0 in every row is absent: that counter did not count. Errors: bad_usage with the line if a row is not
/// seven integers; `name` is the file's name, for messages.
Result<std::vector<Stat>> read_hpctool(std::string_view text, const std::string& name,
                                       std::string_view description = {});

}  // namespace tally::result
