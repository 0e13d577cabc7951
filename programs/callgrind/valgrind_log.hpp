// The messages of valgrind's tools: lines that begin with the process ID, and the summary of the counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tally::callgrind {

/// "==1234== text" for each line.
std::string log_lines(std::int64_t process, const std::vector<std::string>& lines);

/// "--1234-- warning: text".
std::string log_warning(std::int64_t process, const std::string& text);

/// A count by valgrind's name of the event: Ir, Dr, D1mr.
struct NamedCount {
  std::string name;
  std::int64_t count = 0;
};

/// The line with the names of the events, and the line with their counts, as callgrind prints them.
std::vector<std::string> collected_lines(const std::vector<NamedCount>& counts);

/// The summary of the counts: references, and misses and rates if the caches or the prediction of branches were
/// simulated. `wide`: the columns of cachegrind, which are wider than those of callgrind.
std::vector<std::string> summary_lines(const std::vector<NamedCount>& counts, bool wide);

}  // namespace tally::callgrind
