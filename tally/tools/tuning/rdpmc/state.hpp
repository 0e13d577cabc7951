// What was switched on, as it is written down for later commands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/linux/perf/pinned_counter.hpp"
#include "tally/linux/process/daemon.hpp"

namespace tally::rdpmc {

/// A PMU's switch: what it said before, and what it was set to.
struct Switched {
  std::string pmu;
  std::int64_t before = 0;
  std::int64_t set = 0;
  bool operator==(const Switched&) const = default;
};

/// Where an event is read, on which processors.
struct Row {
  std::optional<linux::CounterPlace> place;  ///< nothing: it is on no counter that may be read
  std::string processors;                    ///< "0-3,8"
  std::string event;                         ///< "instructions:u"
  bool operator==(const Row&) const = default;
};

/// All of it.
struct State {
  linux::ProcessMark holder;
  std::vector<Switched> switches;
  std::vector<Row> rows;
  bool operator==(const State&) const = default;
};

/// Lines of words, the last of which says that nothing is missing.
std::string text_of(const State& state);

/// The other way round. Errors: cannot_measure where it is not such a text.
Result<State> parse_state(std::string_view text);

}  // namespace tally::rdpmc
