// Makes a table from two readings.
#pragma once

#include <string>
#include <vector>

#include "programs/watch/machine_reading.hpp"
#include "programs/watch/output/watch_result.hpp"
#include "programs/watch/watched_machine.hpp"

namespace tally::watch {

/// The rows to show.
struct Shown {
  std::vector<result::WatchKind> kinds{result::WatchKind::core, result::WatchKind::socket, result::WatchKind::system};
  std::vector<int> processors;  ///< empty: all
  std::size_t most_rows = 20;   ///< for processes and for groups each
  Id sort = Id::util;           ///< for processes and groups: the largest first
  std::string filter;           ///< part of the names of processes and groups to show
};

/// Returns the table of the differences between two readings.
result::WatchTable table_of(const WatchedMachine& machine, const Shown& shown, const Reading& before,
                            const Reading& after);

/// Returns the processes that match the filter and used the most CPU time between two readings, or since their start
/// without a previous reading: those whose details must be read. At most as many as are shown.
std::vector<ProcessStatistics> busiest(const Reading& before, const Reading& after, const Shown& shown);

/// The same for groups.
std::vector<CgroupStatistics> busiest_groups(const Reading& before, const Reading& after, const Shown& shown);

}  // namespace tally::watch
