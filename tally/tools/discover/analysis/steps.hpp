// The steps of the analysis: each takes what the one before it left.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tally/tools/discover/analysis/analyse.hpp"

namespace tally::discover {

/// What became of the counters of an event.
struct Affinity {
  std::vector<int> counters;  ///< on which it counts
  std::string suspicion;      ///< counters that disagree; empty: none
  bool alive = false;
};

/// Which event counts where, by the runs of Stage::screen. Where counters cannot be chosen only `alive` is said.
std::vector<Affinity> affinities(const Record& record);

/// Counters that disagree with the others for most of their events: their number, and for how many of how many.
struct Liar {
  int counter = 0;
  int disagreed = 0, of = 0;
};
std::vector<Liar> liars(const Record& record, const std::vector<Affinity>& affinities);

/// Why a run is no evidence; empty: it is.
std::string why_discarded(const Record& record, const Run& run, const Limits& limits);

/// The slopes of one event in all payloads.
struct Slopes {
  std::vector<result::Slope> of;  ///< in the order of the payloads
  std::string rejected;           ///< why the event's counts cannot be used; empty: they can
  bool any(const Limits& limits) const;
};
Slopes slopes_of(const Record& record, std::size_t event, const std::vector<int>& without, const Limits& limits);

/// Whether a measured slope may be this number.
bool agrees(const result::Slope& slope, double expected, const Limits& limits);

/// One way to explain slopes.
struct Explanation {
  std::vector<std::size_t> coordinates;
  std::vector<double> weights, errors;
  double misfit = 0;  ///< mean square of what is left, in allowed distances
};

/// All explanations by the fewest coordinates that fit everywhere, the best first. Empty where none does.
std::vector<Explanation> explain(const std::vector<result::Slope>& slopes, const std::vector<Facts>& payloads,
                                 const Limits& limits);

/// What goes by time or by interrupts.
struct Rhythm {
  double per_ms = 0, per_interrupt = 0;
  double off_time = 0, off_cycles = 0;              ///< middle relative distance from time, and from cycles
  double left_by_time = 0, left_by_interrupts = 0;  ///< sums of squares
  bool interrupts_known = false;
};
Rhythm rhythm_of(const Record& record, std::size_t event, const std::vector<int>& without, const Limits& limits);

/// The width of a counter that began again from 0 within a series that should rise by equal steps.
std::optional<int> wrapped_at(const std::vector<double>& x, const std::vector<double>& counts);

}  // namespace tally::discover
