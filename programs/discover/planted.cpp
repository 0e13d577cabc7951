#include "programs/discover/planted.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tally/core/stats/portable_random.hpp"

namespace tally::discover {
namespace {

using result::coordinate_names;

std::vector<Planted>::const_iterator find(const std::vector<Planted>& map, std::uint64_t code) {
  return std::lower_bound(map.begin(), map.end(), code,
                          [](const Planted& one, std::uint64_t c) { return one.code < c; });
}

// Returns all counters, or as in the M1's driver: one, three, or every second one.
std::vector<int> some_counters(Random& random, int counters) {
  std::vector<int> all;
  const std::uint64_t kind = random.below(10);
  for (int i = 0; i < counters; ++i) {
    const bool in = kind < 6    ? true
                    : kind == 6 ? i == counters - 1
                    : kind == 7 ? i >= counters / 2 && i < counters - 1
                    : kind == 8 ? i % 2 == 0
                                : i < counters - 2;
    if (in) all.push_back(i);
  }
  if (all.empty()) all.push_back(0);
  return all;
}

std::string some_coordinate(Random& random) {
  return std::string(coordinate_names[random.below(coordinate_names.size())]);
}

void make_one(Planted& one, Random& random, bool nothing) {
  const std::uint64_t kind = nothing ? 60 + random.below(40) : random.below(100);
  if (kind < 35) {
    one.terms = {{some_coordinate(random), 1, 0}};
  } else if (kind < 39) {
    one.terms = {{some_coordinate(random), 2, 0}};  // doubled
  } else if (kind < 44) {
    one.terms = {{some_coordinate(random), random.below(2) ? 0.5 : 0.25, 0}};
  } else if (kind < 47) {
    one.terms = {{random.below(2) ? "instructions" : "cycles", 0.01, 0}};
  } else if (kind < 52) {
    one.terms = {{some_coordinate(random), 1, 0}, {some_coordinate(random), 1, 0}};
    if (one.terms[0].coordinate == one.terms[1].coordinate) one.terms.pop_back();
  } else if (kind < 54) {
    one.clock = true;
    one.per_ms = 24'000 * static_cast<double>(1 + random.below(40));  // 24 MHz and up
  } else if (kind < 60) {
    one.terms = {{some_coordinate(random), 1, 0}};
    one.per_interrupt = 1;  // the erratum
  } else if (kind < 63) {
    one.per_interrupt = static_cast<double>(1 + random.below(3));
  } else if (kind < 69) {
    one.per_ms = static_cast<double>(1 + random.below(40));
  }
}

}  // namespace

std::vector<Planted> plant(const std::vector<std::uint64_t>& codes, const Planting& planting) {
  Random random(planting.seed, {0x9a7});
  std::vector<Planted> map;
  for (const std::uint64_t code : codes) {
    Planted one;
    one.code = code;
    make_one(one, random, planting.nothing);
    one.counters = some_counters(random, planting.counters);
    map.push_back(std::move(one));
  }
  std::sort(map.begin(), map.end(), [](const Planted& a, const Planted& b) { return a.code < b.code; });
  return map;
}

PlantedTarget::PlantedTarget(std::vector<Planted> map, std::vector<Truth> truths, const Planting& planting, Vices vices)
    : map_(std::move(map)), truths_(std::move(truths)), planting_(planting), vices_(vices) {}

Result<void> PlantedTarget::run(std::uint64_t copies, const std::vector<Slot>& slots, Run& run) {
  const Truth& truth = truths_[run.payload];
  Random random(planting_.seed, {static_cast<std::uint64_t>(run.stage), run.payload, run.size,
                                 static_cast<std::uint64_t>(run.repeat), run.batch});
  const auto times = [&](std::size_t coordinate) {
    return truth.each[coordinate] * static_cast<double>(copies) + truth.once[coordinate];
  };
  // At 3 GHz, with a frequency error of up to a fifth, because a clock does not count core cycles.
  const std::size_t cycles_place = *result::coordinate_of("cycles");
  // Every run takes a different time, and one in thirty is disturbed.
  const double cycles =
      std::round(times(cycles_place) * (1 + 0.002 * random.normal()) * (random.below(30) == 0 ? 1.15 : 1));
  run.time_ms = cycles / 3e6 * random.between(0.8, 1.25);
  const double interrupts = random.poisson(planting_.interrupts_per_s * run.time_ms / 1000);
  run.interrupts = static_cast<std::int64_t>(interrupts);
  run.instructions = static_cast<std::int64_t>(vices_.fixed_instructions * times(0) + interrupts);
  run.cycles = static_cast<std::int64_t>(cycles);
  run.running = vices_.running;
  run.rewritten = vices_.rewritten;
  for (const Slot& slot : slots) {
    double count = 0;
    const auto one = find(map_, slot.code);
    const bool here = one != map_.end() && one->code == slot.code &&
                      std::find(one->counters.begin(), one->counters.end(), slot.counter) != one->counters.end();
    if (here) {
      for (const result::Term& term : one->terms) {
        const std::size_t place = *result::coordinate_of(term.coordinate);
        const double all = place == cycles_place ? cycles : times(place);
        // A fraction is random: half of the mispredicted branches, not every second one.
        const bool whole = term.weight == std::floor(term.weight);
        count += whole ? term.weight * std::round(all) : random.binomial(all, term.weight);
      }
      count += one->clock ? one->per_ms * run.time_ms : random.poisson(one->per_ms * run.time_ms);
      count += one->per_interrupt * interrupts;
    }
    if (slot.counter == vices_.wrong_counter) count = count * 2 / 3;
    count = std::fmod(std::round(count), std::ldexp(1.0, vices_.width));
    run.cells.push_back({slot.event, slot.counter, static_cast<std::int64_t>(count)});
  }
  return {};
}

}  // namespace tally::discover
