// From two readings to a table.
#pragma once

#include <string>
#include <vector>

#include "tally/output/result/watch.hpp"
#include "tally/tools/watch/machine.hpp"
#include "tally/tools/watch/reading.hpp"

namespace tally::watch {

/// Which rows.
struct Shown {
  std::vector<result::WatchKind> kinds{result::WatchKind::core, result::WatchKind::socket, result::WatchKind::system};
  std::vector<int> processors;  ///< empty: all
  std::size_t most_rows = 20;   ///< of processes and of groups each
  Id sort = Id::util;           ///< of processes and groups: the largest first
  std::string filter;           ///< processes and groups whose name has this in it
};

/// What a reading was made for, and how the two fit.
result::WatchTable table_of(const Machine& machine, const Shown& shown, const Reading& before, const Reading& after);

/// The processes that fit the filter and used processors most between two readings, or since their start where there is
/// no reading before: those whose details are worth reading, at most as many as are shown.
std::vector<linux::ProcessStatistics> busiest(const Reading& before, const Reading& after, const Shown& shown);

/// The same of groups.
std::vector<linux::CgroupStatistics> busiest_groups(const Reading& before, const Reading& after, const Shown& shown);

}  // namespace tally::watch
