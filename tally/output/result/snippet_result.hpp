// The result of `tally stat --asm`: counts of one copy of some code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/units.hpp"
#include "tally/core/count/count.hpp"
#include "tally/output/result/stat_result.hpp"

namespace tally::result {

/// The count of an event for one copy.
struct PerCopy {
  std::string event;                          ///< as requested
  EventName name;                             ///< what was counted, and in which mode
  Ratio each;                                 ///< for one copy; a fraction if copies share an event
  std::int64_t difference = 0;                ///< additional count of `copies` copies; with several repeats the median
  std::optional<double> low = {}, high = {};  ///< for one copy: the minimum and maximum of all repeats
  bool operator==(const PerCopy&) const = default;
};

/// The cycles of an instruction that is repeated as a chain or independently.
struct ChainCycles {
  std::string name;              ///< "latency", "throughput"
  std::string code;              ///< the copies, shortened
  std::optional<double> cycles;  ///< for one copy
  std::string why_not;           ///< why there are none
  bool operator==(const ChainCycles&) const = default;
};

/// The whole result.
struct Snippet {
  std::string code, init;
  std::uint64_t unroll = 0;  ///< copies of the shorter program; the longer one has twice as many
  std::uint64_t rounds = 0;  ///< in the shorter of two runs
  std::uint64_t copies = 0;  ///< that the difference is divided by
  int repeats = 1;
  int executions = 0;
  std::string backend;
  Environment environment;
  std::vector<PerCopy> events;
  std::vector<ChainCycles> chains;
  std::vector<std::string> notices;
  bool operator==(const Snippet&) const = default;
};

}  // namespace tally::result
