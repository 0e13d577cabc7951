/// google-benchmark: counts of one iteration, next to its time. C++11.
///
///     void BM_parse(benchmark::State& state) {
///       const auto iteration = [&] { benchmark::DoNotOptimize(parse(input)); };
///       for (auto _ : state) iteration();
///       tally::report_iteration(state, "instructions,branches", iteration);
///     }
#pragma once

#include <benchmark/benchmark.h>

#include <string>

#include "tally/library/tally.h"

namespace tally {

/// Runs an iteration five times after the timed loop, and reports the smallest count of each event (16 at most) as a
/// counter of the benchmark. The loop, the timer and the reads of the counters are not counted. If an event cannot be
/// counted here, the benchmark's label says why. Skips the benchmark with an error for an unknown event.
template <class Iteration>
void report_iteration(benchmark::State& state, const char* events, Iteration&& iteration) {
  constexpr int room = 16;
  constexpr int runs = 5;
  tally_counters* const counters = tally_open(events);
  if (counters == nullptr) {
    state.SkipWithError((std::string("tally: ") + tally_error()).c_str());
    return;
  }
  tally_count before[room], after[room];
  long long least[room] = {};
  int counted = 0;
  for (int run = 0; run < runs; ++run) {
    (void)tally_read(counters, before, room);
    iteration();
    counted = tally_read(counters, after, room);
    for (int i = 0; i < counted; ++i) {
      const long long value = after[i].value - before[i].value;
      if (run == 0 || value < least[i]) least[i] = value;
    }
  }
  std::string absent;
  for (int i = 0; i < counted; ++i) {
    if (std::string(after[i].trust) == "absent")
      absent += (absent.empty() ? "" : "; ") + std::string(after[i].event) + " is absent: " + after[i].reason;
    else
      state.counters[after[i].event] = static_cast<double>(least[i]);
  }
  if (!absent.empty()) state.SetLabel(absent);
  tally_close(counters);
}

}  // namespace tally
