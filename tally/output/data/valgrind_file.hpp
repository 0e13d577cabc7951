// The output files of callgrind and cachegrind, with the parts of their headers that `tally callgrind` sets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tally/output/result/profile_result.hpp"

namespace tally::output {

/// The header and the layout of a file of callgrind.
struct CallgrindLayout {
  std::string creator = "tally";
  std::int64_t pid = 0;                        ///< 0: the file does not contain it
  int part = 0;                                ///< number of the dump, from 1; 0: the file does not contain it
  int thread = 0;                              ///< number of the thread, from 1; 0: all threads
  std::vector<std::string> descriptions = {};  ///< text of the lines "desc:"
  bool instructions = false;                   ///< a position has an address
  bool lines = true;                           ///< a position has a line; always without addresses
  bool compressed = true;                      ///< a name is written once, then its number
};

/// Writes a profile in the format of callgrind. The names of the events are those of `profile`, or callgrind's if it
/// has one for the event. Cost: proportional to rows and calls.
std::string callgrind_file(const result::Profile& profile, const CallgrindLayout& layout);

/// Writes a profile in the format of cachegrind: without calls, threads and addresses.
std::string cachegrind_file(const result::Profile& profile, const std::vector<std::string>& descriptions);

}  // namespace tally::output
