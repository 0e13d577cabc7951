#include "tally/counting/backend/engine/windows/code_costs.hpp"

#include <gtest/gtest.h>

#include <random>

namespace tally::backend::engine {
namespace {

// The costs of a trace's segments equal the sum of channel::walk over its instructions, each times its cost.
TEST(CodeCosts, of_segments_are_those_of_their_instructions) {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 2000; ++round) {
    channel::CodeTrace trace{};
    trace.pc = 0x1000;
    trace.counts_exits = static_cast<std::uint16_t>(below(2));
    std::vector<channel::CodePlace> places(1 + below(40));
    std::uint32_t branches = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      places[i].pc = static_cast<std::int32_t>(4 * i);
      if (below(4) != 0) continue;
      places[i].flags = channel::place_branches | (below(2) != 0 ? channel::place_falls_through : 0);
      ++branches;
    }
    if (below(2) != 0) places.back().flags = channel::place_is_end;
    trace.places = static_cast<std::uint32_t>(places.size());
    trace.segments = static_cast<std::uint16_t>(branches + 1);
    // Each segment is entered less often than the one before, because some executions leave the trace.
    std::vector<std::uint64_t> counters(trace.segments);
    counters[0] = 1'000'000;
    for (std::uint32_t i = 1; i < trace.segments; ++i) {
      counters[i] = trace.counts_exits != 0 ? below(1000) : below(static_cast<std::uint32_t>(counters[i - 1]) + 1);
      if (trace.counts_exits != 0 && below(3) == 0) trace.early |= std::uint64_t{1} << (i & 63);
    }
    if (trace.segments > 64) continue;
    const auto cost = [&](std::uint64_t pc) { return static_cast<double>((pc * 2654435761u >> 7) % 10); };
    double walked = 0, summed = 0;
    channel::walk(
        trace, places.data(), [&](std::uint32_t i) { return counters[i]; },
        [&](const channel::CodePlace& p, std::uint64_t reached, std::uint64_t, std::uint64_t) {
          if (!(p.flags & channel::place_is_end))
            walked += static_cast<double>(reached) * cost(trace.pc + static_cast<std::uint64_t>(std::int64_t{p.pc}));
        });
    std::vector<double> costs(trace.segments);
    add_costs(trace, places.data(), costs.data(), cost);
    for (std::uint32_t i = 0; i < trace.segments; ++i) summed += static_cast<double>(counters[i]) * costs[i];
    ASSERT_EQ(summed, walked) << "round " << round;
  }
}

}  // namespace
}  // namespace tally::backend::engine
