// The saved state of `tally rdpmc`, for later commands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "programs/linux/daemon.hpp"
#include "programs/linux/pinned_counter.hpp"
#include "tally/core/base/result.hpp"

namespace tally::rdpmc {

/// A PMU's switch: its previous value, and the value that was set.
struct SwitchChange {
  std::string pmu;
  std::int64_t before = 0;
  std::int64_t set = 0;
  bool operator==(const SwitchChange&) const = default;
};

/// The counter of an event, on some processors.
struct Row {
  std::optional<linux::CounterPlace> place;  ///< empty: no readable counter
  std::string processors;                    ///< "0-3,8"
  std::string event;                         ///< "instructions:u"
  bool operator==(const Row&) const = default;
};

/// The whole state.
struct State {
  linux::ProcessIdentity holder;
  std::vector<SwitchChange> switches;
  std::vector<Row> rows;
  bool operator==(const State&) const = default;
};

/// Formats the state as lines of words; the last line marks the end.
std::string text_of(const State& state);

/// The reverse. Errors: cannot_measure for another text.
Result<State> parse_state(std::string_view text);

}  // namespace tally::rdpmc
