// What `tally stat --asm` measured: counts of one copy of some code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/units.hpp"
#include "tally/core/count/count.hpp"
#include "tally/output/result/stat.hpp"

namespace tally::result {

/// An event's count in one copy.
struct PerCopy {
  std::string event;                          ///< as it was asked for
  EventName name;                             ///< what was counted, and in which mode
  Ratio each;                                 ///< of one copy; a fraction where copies share an event
  std::int64_t difference = 0;                ///< what `copies` copies made more; with several repeats the middle one
  std::optional<double> low = {}, high = {};  ///< of one copy, the least and the most of all repeats
  bool operator==(const PerCopy&) const = default;
};

/// The cycles of an instruction repeated in a certain way.
struct ChainCycles {
  std::string name;              ///< "latency", "throughput"
  std::string code;              ///< the copies, shortened
  std::optional<double> cycles;  ///< of one copy
  std::string why_not;           ///< the reason where there are none
  bool operator==(const ChainCycles&) const = default;
};

/// The whole result.
struct Snippet {
  std::string code, init;
  std::uint64_t unroll = 0;  ///< copies of the shorter program; the longer one has twice as many
  std::uint64_t rounds = 0;  ///< of the shorter of two runs
  std::uint64_t copies = 0;  ///< by which the difference is divided
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
