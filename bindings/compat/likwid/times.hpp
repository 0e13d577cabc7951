// The time that each thread spent in each region, which tally's counts do not have.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <string>
#include <string_view>

namespace tally::compat {

/// A region of a thread. Only the thread writes it; others may read `name` and `total`.
struct TimedRegion {
  std::string name;
  std::chrono::steady_clock::time_point start = {};
  std::atomic<std::chrono::steady_clock::duration> total = {};
};

/// The regions of a thread. They stay when it ends.
struct ThreadTimes {
  int thread = 0;  ///< kernel's ID
  std::deque<TimedRegion> regions = {};
  std::atomic<const TimedRegion*> ended_last = nullptr;  ///< null: none ended

  TimedRegion& region(std::string_view name);
};

/// The calling thread's.
ThreadTimes& own_times();

/// Those of a thread that has entered regions, by the kernel's ID; of several threads that had the ID, of the last one.
/// Null if there is none. No other thread may be in a region's begin.
ThreadTimes* times_of(int thread);

}  // namespace tally::compat
