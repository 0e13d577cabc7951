#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "programs/discovery/analysis/robust.hpp"
#include "programs/discovery/analysis/steps.hpp"

namespace tally::discover {
namespace {

// Sizes and counts of one repeat of one payload.
struct Series {
  std::vector<double> x, y;
};

bool is_among(const std::vector<int>& list, int one) { return std::find(list.begin(), list.end(), one) != list.end(); }

double expected_instructions(const Record& record, const Run& run) {
  return record.payloads[run.payload].composition[0] * static_cast<double>(record.sizes[run.size]);
}

}  // namespace

std::string why_discarded(const Record& record, const Run& run, const Limits& limits) {
  if (run.running < limits.running) {
    return fmt::format("its counter was multiplexed and counted less than {:.0f} % of the time", 100 * limits.running);
  }
  if (run.rewritten) return "another program wrote to the PMU meanwhile (an NMI watchdog, another profiler)";
  // The reference of every run: if the fixed counter disagrees, something else ran, or counting stopped.
  const double expected = expected_instructions(record, run);
  if (expected > 0 && std::abs(static_cast<double>(run.instructions) - expected) > 0.05 * expected + 20'000) {
    return "the fixed instruction counter disagrees with the payload";
  }
  return {};
}

bool agrees(const result::Slope& slope, double expected, const Limits& limits) {
  return std::abs(slope.value - expected) <= limits.share * expected + limits.errors * slope.error + limits.least;
}

bool Slopes::any(const Limits& limits) const {
  return std::any_of(of.begin(), of.end(),
                     [&](const result::Slope& slope) { return slope.value > 0 && !agrees(slope, 0, limits); });
}

std::optional<int> wrapped_at(const std::vector<double>& x, const std::vector<double>& counts) {
  bool fell = false;
  for (std::size_t i = 1; i < counts.size(); ++i) fell = fell || counts[i] < 0.9 * counts[i - 1] - 100;
  if (!fell) return std::nullopt;
  for (int width = 8; width <= 48; ++width) {
    const double whole = std::ldexp(1.0, width);
    if (*std::max_element(counts.begin(), counts.end()) >= whole) continue;
    // Steps in proportion to the first one, which may itself include several wraps.
    for (int wraps = 0; wraps < 64; ++wraps) {
      const double slope = (counts[1] - counts[0] + wraps * whole) / (x[1] - x[0]);
      bool fits = slope > 0;
      for (std::size_t i = 2; fits && i < x.size(); ++i) {
        const double expected = counts[0] + slope * (x[i] - x[0]);
        const double rest = std::abs(std::remainder(expected - counts[i], whole));
        fits = rest <= 0.001 * expected + 50 && rest <= 0.02 * whole;
      }
      if (fits) return width;
    }
  }
  return std::nullopt;
}

Slopes slopes_of(const Record& record, std::size_t event, const std::vector<int>& without, const Limits& limits) {
  std::vector<std::map<int, Series>> series(record.payloads.size());
  std::vector<std::map<int, int>> discarded(record.payloads.size());
  std::map<std::string, int> reasons;
  int all = 0;
  for (const Run& run : record.runs) {
    if (run.stage != Run::Stage::slopes || run.repeat == 0) continue;
    for (const Cell& cell : run.cells) {
      if (cell.event != event || is_among(without, cell.counter)) continue;
      ++all;
      if (const std::string why = why_discarded(record, run, limits); !why.empty()) {
        ++reasons[why];
        ++discarded[run.payload][run.repeat];
        continue;
      }
      Series& one = series[run.payload][run.repeat];
      one.x.push_back(static_cast<double>(record.sizes[run.size]));
      one.y.push_back(static_cast<double>(cell.count));
    }
  }
  Slopes answer;
  std::map<int, int> wrapped;
  int usable = 0;
  for (std::size_t payload = 0; payload < series.size(); ++payload) {
    std::vector<double> slopes, intercepts;
    for (auto& [repeat, one] : series[payload]) {
      // In order of size, because they were measured ascending and descending.
      std::vector<std::size_t> order(one.x.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return one.x[a] < one.x[b]; });
      Series sorted;
      for (const std::size_t i : order) {
        sorted.x.push_back(one.x[i]);
        sorted.y.push_back(one.y[i]);
      }
      if (sorted.x.size() < 2) continue;
      ++usable;
      if (const auto width = wrapped_at(sorted.x, sorted.y)) ++wrapped[*width];
      const Line line = theil_sen(sorted.x, sorted.y);
      slopes.push_back(line.slope);
      intercepts.push_back(line.intercept);
    }
    result::Slope slope{record.payloads[payload].name,
                        median(slopes),
                        0,
                        0,
                        0,
                        median(intercepts),
                        static_cast<int>(slopes.size()),
                        static_cast<int>(discarded[payload].size())};
    // The median's standard error, but at least half an event over the largest range of sizes.
    const double n = std::max<double>(1, static_cast<double>(slopes.size()));
    const double least = 0.5 / std::max<double>(1, static_cast<double>(record.sizes.back() - record.sizes.front()));
    slope.error = std::max(1.2533 * spread(slopes) / std::sqrt(n), least);
    const double reach = t99(slope.used - 1) * slope.error;
    slope.low = slope.value - reach;
    slope.high = slope.value + reach;
    answer.of.push_back(slope);
  }
  for (const auto& [why, times] : reasons) {
    if (2 * times > all) answer.rejected = why;
  }
  for (const auto& [width, times] : wrapped) {
    if (answer.rejected.empty() && times >= 2 && 20 * times > usable) {
      answer.rejected = fmt::format("its counter wrapped at 2^{}: the counts are too large for it", width);
    }
  }
  return answer;
}

Rhythm rhythm_of(const Record& record, std::size_t event, const std::vector<int>& without, const Limits& limits) {
  std::vector<double> counts, times, cycles, interrupts;
  Rhythm answer;
  answer.interrupts_known = true;
  for (const Run& run : record.runs) {
    if (run.stage != Run::Stage::slopes || run.repeat == 0 || !why_discarded(record, run, limits).empty()) continue;
    for (const Cell& cell : run.cells) {
      if (cell.event != event || is_among(without, cell.counter)) continue;
      counts.push_back(static_cast<double>(cell.count));
      times.push_back(run.time_ms);
      cycles.push_back(static_cast<double>(run.cycles));
      interrupts.push_back(static_cast<double>(run.interrupts));
      answer.interrupts_known = answer.interrupts_known && run.interrupts >= 0;
    }
  }
  const auto share = [&](const std::vector<double>& of) {
    double xy = 0, x = 0;
    for (std::size_t i = 0; i < of.size(); ++i) {
      xy += counts[i];
      x += of[i];
    }
    return x > 0 ? xy / x : 0;
  };
  answer.per_ms = share(times);
  answer.per_interrupt = answer.interrupts_known ? share(interrupts) : 0;
  const double per_cycle = share(cycles);
  std::vector<double> off_time, off_cycles;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double by_time = answer.per_ms * times[i], by_interrupts = answer.per_interrupt * interrupts[i];
    off_time.push_back(std::abs(counts[i] - by_time) / std::max(1.0, by_time));
    off_cycles.push_back(std::abs(counts[i] - per_cycle * cycles[i]) / std::max(1.0, per_cycle * cycles[i]));
    answer.left_by_time += (counts[i] - by_time) * (counts[i] - by_time);
    answer.left_by_interrupts += (counts[i] - by_interrupts) * (counts[i] - by_interrupts);
  }
  answer.off_time = median(off_time);
  answer.off_cycles = median(off_cycles);
  return answer;
}

}  // namespace tally::discover
