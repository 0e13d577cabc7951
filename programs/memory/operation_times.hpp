// Times every operation of a task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "programs/memory/analysis/tails.hpp"
#include "programs/memory/runner.hpp"

namespace tally::memory {

/// The time of each operation, in order.
struct Series {
  std::vector<double> ns;
  double seconds = 0;
};

/// Runs `body` `count` times, each between two stamps, which are converted afterwards. `before(i)` is not timed.
template <class Before, class Body>
Series time_each(Runner& runner, std::size_t count, Before before, Body body) {
  std::vector<std::uint32_t> ticks(count);
  runner.calibrate();
  const Stamp first = begin_stamp();
  std::size_t done = 0;
  for (; done < count; ++done) {
    if (done % 1024 == 0 && runner.must_stop()) break;
    before(done);
    const Stamp start = begin_stamp();
    body(done);
    ticks[done] = static_cast<std::uint32_t>(end_stamp().ticks - start.ticks);
  }
  runner.calibrate();
  Series series;
  series.seconds = runner.ns(end_stamp().ticks - first.ticks) / 1e9;
  for (std::size_t i = 0; i < done; ++i) series.ns.push_back(runner.ns(ticks[i]));
  return series;
}

/// The `before` of series that need no preparation.
inline void nothing_before(std::size_t) {}

/// The number of operations from each slow one to the next.
inline std::vector<double> gaps_of(const std::vector<Outlier>& slow) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < slow.size(); ++i) gaps.push_back(static_cast<double>(slow[i].write - slow[i - 1].write));
  return gaps;
}

}  // namespace tally::memory
