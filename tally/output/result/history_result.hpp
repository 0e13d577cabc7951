// The history of a program: what several results of it counted, in order of time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tally/core/base/units.hpp"
#include "tally/core/count/trust.hpp"
#include "tally/output/result/provenance.hpp"
#include "tally/output/result/setting.hpp"

namespace tally::result {

/// One count of a stored result.
struct HistoryCount {
  std::string event;  ///< full name: "instructions:u"
  Unit unit = Unit::events;
  std::optional<std::int64_t> value;
  std::optional<std::int64_t> low, high;  ///< interval of the median, or least and greatest of few runs
  Trust trust = Trust::absent;
  bool operator==(const HistoryCount&) const = default;
};

/// A stored result.
struct HistoryEntry {
  std::int64_t number = 0;  ///< in its history, from 1
  std::string name;         ///< of the benchmark: its command line, unless the user chose another
  std::string processor;
  Provenance provenance = {};
  std::vector<Setting> settings = {};  ///< with which it was counted; empty: unknown
  std::vector<HistoryCount> counts = {};
  /// Why its change from the result before is intended: limits of growth begin here if that has another text.
  std::string accepted = {};
  bool can_vary = false;  ///< the program read a clock, for example, or had several threads
  bool operator==(const HistoryEntry&) const = default;
};

struct History {
  std::vector<HistoryEntry> entries;  ///< by date
  bool operator==(const History&) const = default;
};

}  // namespace tally::result
