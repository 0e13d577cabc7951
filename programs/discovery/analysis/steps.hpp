// The steps of the analysis; each uses the results of the previous one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "programs/discovery/analysis/analyse.hpp"

namespace tally::discover {

/// The counters of an event.
struct Affinity {
  std::vector<int> counters;  ///< on which it counts
  std::string suspicion;      ///< counters that disagree; empty: none
  bool alive = false;
};

/// Returns the counters of each event from the runs of Stage::screen. If counters cannot be selected, sets only
/// `alive`.
std::vector<Affinity> affinities(const Record& record);

/// A counter that disagrees with the others for most of their events: its number, and the numbers of events.
struct Liar {
  int counter = 0;
  int disagreed = 0, of = 0;
};
std::vector<Liar> liars(const Record& record, const std::vector<Affinity>& affinities);

/// Returns the reason why a run is discarded; empty if it is valid.
std::string why_discarded(const Record& record, const Run& run, const Limits& limits);

/// The slopes of one event in all payloads.
struct Slopes {
  std::vector<result::Slope> of;  ///< in the order of the payloads
  std::string rejected;           ///< why the event's counts cannot be used; empty: they can
  bool any(const Limits& limits) const;
};
Slopes slopes_of(const Record& record, std::size_t event, const std::vector<int>& without, const Limits& limits);

/// Whether a measured slope agrees with this number.
bool agrees(const result::Slope& slope, double expected, const Limits& limits);

/// One explanation of slopes.
struct Explanation {
  std::vector<std::size_t> coordinates;
  std::vector<double> weights, errors;
  double misfit = 0;  ///< mean square of the residuals, in allowed distances
};

/// Returns all explanations with the fewest coordinates that fit in every payload, the best first. Empty if none fits.
std::vector<Explanation> explain(const std::vector<result::Slope>& slopes, const std::vector<Facts>& payloads,
                                 const Limits& limits);

/// The rates of an event by time and by interrupts.
struct Rhythm {
  double per_ms = 0, per_interrupt = 0;
  double off_time = 0, off_cycles = 0;              ///< median relative distance from time, and from cycles
  double left_by_time = 0, left_by_interrupts = 0;  ///< sums of squares of the residuals
  bool interrupts_known = false;
};
Rhythm rhythm_of(const Record& record, std::size_t event, const std::vector<int>& without, const Limits& limits);

/// Returns the width of a counter that wrapped within a series that should rise in equal steps.
std::optional<int> wrapped_at(const std::vector<double>& x, const std::vector<double>& counts);

}  // namespace tally::discover
