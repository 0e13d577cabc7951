#include "programs/memory/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <utility>

#include "programs/memory/room.hpp"
#include "programs/memory/statistics/timing_statistics.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/machine/core_frequency.hpp"
#include "tally/linux/machine/pages.hpp"
#include "tally/linux/machine/time_stamp.hpp"
#include "tally/linux/process/conditions.hpp"

namespace tally::memory {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr int usual_mappings = 5;
constexpr std::uint64_t reference_lines = 8;
// A ring with a longer lap is not walked before it is timed: planting it was the warm-up lap.
constexpr double longest_warm_lap_ns = 100e6;
constexpr std::size_t huge_page_bytes = 2 << 20;

void keep_busy_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) (void)adds(1 << 14);
}

// Steps of a batch: whole laps if one fits or takes no longer than `longest_lap_ns`, otherwise a power of two.
std::uint64_t batch_steps(double step_ns, std::uint64_t lap_steps, double batch_ns, double longest_lap_ns = 0) {
  const double fits = std::max(1.0, batch_ns / step_ns);
  const double laps = std::floor(fits / static_cast<double>(lap_steps));
  if (laps >= 1) return static_cast<std::uint64_t>(laps) * lap_steps;
  if (step_ns * static_cast<double>(lap_steps) <= longest_lap_ns) return lap_steps;
  return std::uint64_t{1} << static_cast<unsigned>(std::floor(std::log2(fits)));
}

Order order_of(const Lap& lap, Random& random) { return ring_of(lap.order, lap.blocks, lap.group_blocks, random); }

// Ticks between two stamps with nothing in between.
std::uint64_t ticks_of_stamps() {
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < 16; ++i) least = std::min(least, nothing().ticks());
  return least;
}

Error damaged() {
  return {Code::cannot_measure, "memory does not contain the chain that tally wrote",
          "the memory is faulty, or tally has a bug", 0};
}

}  // namespace

void plant_chain(std::byte* base, std::span<const std::uint64_t> offsets) {
  for (std::size_t k = 0; k < offsets.size(); ++k) {
    const std::uint64_t next = offsets[k + 1 == offsets.size() ? 0 : k + 1];
    std::memcpy(base + offsets[k], &next, sizeof next);
  }
}

void plant(std::byte* base, const Order& order, std::uint64_t stride_bytes) {
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::uint64_t next = order[k + 1 == order.size() ? 0 : k + 1] * stride_bytes;
    std::memcpy(base + order[k] * stride_bytes, &next, sizeof next);
  }
}

bool is_planted(const std::byte* base, const Order& order, std::uint64_t stride_bytes) {
  for (std::size_t k = 0; k < order.size(); ++k) {
    std::uint64_t found = 0;
    std::memcpy(&found, base + order[k] * stride_bytes, sizeof found);
    if (found != order[k + 1 == order.size() ? 0 : k + 1] * stride_bytes) return false;
  }
  return true;
}

Result<Runner> Runner::start(Plan plan) {
  if (plan.mappings == 0) plan.mappings = usual_mappings;
  Runner runner(std::move(plan));
  if (runner.plan_.processor) {
    const auto found = linux::check_processor(*runner.plan_.processor);
    if (!found) return fail(found.error());
  }
  runner.processor_ = runner.plan_.processor.value_or(linux::quietest_processor());
  // Before the thread is bound: afterwards it may run on one processor only.
  runner.processors_ = {runner.processor_};
  if (const auto found = linux::processors("")) {
    for (const int one : *found) {
      if (one != runner.processor_ && linux::check_processor(one)) runner.processors_.push_back(one);
    }
  }
  if (!linux::stay_on(runner.processor_)) {
    return fail(Code::cannot_measure,
                fmt::format("cannot bind the measuring thread to processor {}", runner.processor_),
                "choose another one with --cpu N");
  }
  if (const auto made = runner.make_reference(); !made) return fail(made.error());
  runner.counters_ = BatchCounters::open();
  runner.most_aside_bytes_ = most_aside_bytes(linux::available_bytes().value_or(0));
  runner.warm_up();
  return runner;
}

Result<void> Runner::make_reference() {
  auto area = linux::Area::map(reference_lines * line_bytes, linux::PageKind::small);
  if (!area) return fail(area.error());
  plant(area->data(), random_ring(reference_lines, random_), line_bytes);
  reference_ = std::move(*area);
  return {};
}

// Some cores take some time to reach the full clock.
void Runner::warm_up() {
  first_time_ = linux::raw_time();
  first_ticks_ = nothing().end.ticks;
  keep_busy_for(std::chrono::milliseconds(200));
  calibrate();
}

void Runner::calibrate() {
  const Nanoseconds before = linux::raw_time();
  const std::uint64_t ticks = nothing().end.ticks;
  const Nanoseconds after = linux::raw_time();
  // The thread may have lost its processor between the two readings; then the previous factor is better.
  if (after - before > std::chrono::microseconds(20) && ns_per_tick_ != 1) return;
  const auto passed = static_cast<double>(((before - first_time_) + (after - first_time_)).count()) / 2;
  ns_per_tick_ = passed / static_cast<double>(ticks - first_ticks_);
}

double Runner::seconds_left() const {
  return Seconds(plan_.budget).count() - Seconds(std::chrono::steady_clock::now() - started_).count();
}

double Runner::waited_share() const {
  const Seconds passed = std::chrono::steady_clock::now() - started_;
  return static_cast<double>(watch_.now().waited_ns - first_waited_ns_) / (passed.count() * 1e9);
}

double Runner::core_ghz() const {
  constexpr int tries = 8;
  return linux::core_hertz(tries).value_or(0) / 1e9;
}

double Runner::reference_ns() {
  constexpr std::uint64_t steps = 1 << 12;
  std::uint64_t least = ~std::uint64_t{0};
  for (int i = 0; i < 8; ++i) least = std::min(least, chase(reference_->data(), 0, steps).ticks());
  return ns(least) / static_cast<double>(steps);
}

Result<linux::Area> Runner::fresh(std::uint64_t bytes, std::optional<linux::PageKind> pages,
                                  std::optional<int> node) const {
  if (!plan_.file.empty()) return linux::Area::map_file(plan_.file, bytes);
  // The kernel promises more memory than it has, and kills the process that touches it.
  constexpr std::uint64_t worth_reading = 16 << 20;
  if (bytes >= worth_reading) {
    const auto left = linux::available_bytes();
    if (left && bytes > *left) {
      return fail(
          Code::cannot_measure,
          fmt::format("{} of memory is needed at once, but only {} is available",
                      bytes_text(static_cast<std::int64_t>(bytes)), bytes_text(static_cast<std::int64_t>(*left))),
          "choose a smaller one with --regions");
    }
  }
  const linux::PageKind kind = pages.value_or(plan_.pages);
  // Transparent huge pages require whole huge pages.
  const bool transparent = kind == linux::PageKind::transparent;
  const std::uint64_t whole = (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
  return linux::Area::map(transparent ? whole : bytes, kind, node ? node : plan_.node);
}

std::optional<Batch> Runner::batch(const std::function<Timed()>& body, std::uint64_t steps) const {
  const linux::Disturbance before = watch_.now();
  const auto counted = counters_.read();
  const Timed timed = body();
  const auto counted_then = counters_.read();
  if (!timed.stayed() || watch_.now() != before) return std::nullopt;
  return Batch{ns(timed.ticks()) / static_cast<double>(steps), counts_per_step(counted, counted_then, steps)};
}

void Runner::collect(Visit& visit, const std::function<Timed()>& body, std::uint64_t steps, int wanted,
                     const std::function<void()>& settle) const {
  constexpr int tries = 3;
  int left = tries * wanted;
  linux::Disturbance settled_at = watch_.now();
  const auto is_settled = [&] {
    if (!settle || watch_.now() == settled_at) return true;
    settled_at = watch_.now();
    settle();
    return watch_.now() == settled_at;
  };
  std::vector<Batch> sound;
  while (left > 0 && static_cast<int>(sound.size()) < wanted && !plan_.stop()) {
    const std::int64_t stolen = watch_.stolen_ticks(processor_);
    std::vector<Batch> window;
    while (left > 0 && static_cast<int>(sound.size() + window.size()) < wanted && !plan_.stop()) {
      --left;
      if (auto one = is_settled() ? batch(body, steps) : std::nullopt) {
        window.push_back(*std::move(one));
      } else {
        ++visit.rejected;
      }
    }
    // The kernel counts stolen time in ticks of 10 ms, so the affected batch is unknown.
    if (watch_.stolen_ticks(processor_) != stolen) {
      visit.rejected += static_cast<std::int64_t>(window.size());
      continue;
    }
    std::move(window.begin(), window.end(), std::back_inserter(sound));
  }
  std::vector<double> times;
  for (const Batch& one : sound) times.push_back(one.ns);
  const std::vector<bool> is_outlier = outliers(times);
  for (std::size_t i = 0; i < sound.size(); ++i) {
    if (is_outlier[i]) {
      ++visit.rejected;
    } else {
      visit.ns.push_back(sound[i].ns);
      visit.counts.push_back(std::move(sound[i].counts));
    }
  }
}

Visit Runner::walk(const std::byte* base, std::uint64_t steps_of_lap, const Walk& options) {
  Visit visit;
  calibrate();
  visit.ghz = core_ghz();
  visit.reference_ns = reference_ns();
  visit.reference_cycles = visit.reference_ns * visit.ghz;
  constexpr std::uint64_t few = 2048;
  Timed trial = chase(base, chase(base, 0, few).offset, few);
  double step_ns = std::max(0.1, ns(trial.ticks()) / few);
  const std::uint64_t warm = std::max(steps_of_lap, few);
  if (step_ns * static_cast<double>(warm) < longest_warm_lap_ns) {
    // If something else had the processor, the lap's length is unknown.
    constexpr int trials = 3;
    linux::Disturbance before;
    for (int i = 0; i == 0 || (i < trials && watch_.now() != before); ++i) {
      before = watch_.now();
      trial = chase(base, trial.offset, warm);
    }
    step_ns = std::max(0.1, ns(trial.ticks()) / static_cast<double>(warm));
  }
  std::uint64_t offset = trial.offset;
  const std::uint64_t steps = batch_steps(step_ns, steps_of_lap, options.batch_ns, options.longest_lap_ns);
  visit.whole_laps = steps % steps_of_lap == 0;
  // Continues at the current offset: a lap from the beginning would overlap with the previous one, out of order.
  const auto body = [&] {
    const Timed timed = chase(base, offset, steps);
    offset = timed.offset;
    return timed;
  };
  visit.settled = visit.whole_laps;
  const std::function<void()> lap = [&] { (void)body(); };
  collect(visit, body, steps, options.batches > 0 ? options.batches : plan_.batches,
          visit.settled ? lap : std::function<void()>());
  const double ghz = core_ghz();
  const double reference = reference_ns();
  visit.reference_ns = std::max(visit.reference_ns, reference);
  visit.reference_cycles = std::max(visit.reference_cycles, reference * ghz);
  visit.ghz = std::max(visit.ghz, ghz);
  visit.offset = offset;
  return visit;
}

std::optional<double> Runner::memory_load_ns() {
  if (memory_load_ns_) return *memory_load_ns_;
  constexpr std::uint64_t blocks = 16384;
  constexpr std::uint64_t loads = 2048;
  memory_load_ns_.emplace();
  auto area = fresh(blocks * line_bytes);
  if (!area) return std::nullopt;
  plant(area->data(), random_ring(blocks, random_), line_bytes);
  if (!flush(area->data(), blocks * line_bytes, line_bytes)) return std::nullopt;
  stamps_ns_ = ns(ticks_of_stamps());
  std::vector<double> cold;
  for (std::uint64_t i = 0, offset = 0; i < loads; ++i) {
    const Timed one = chase(area->data(), offset, 1);
    offset = one.offset;
    cold.push_back(ns(one.ticks()) - stamps_ns_);
  }
  const double limit = 0.6 * median(std::move(cold));
  // A counter of 25 MHz, as on some arm64 processors, cannot distinguish a cache hit from a load from memory.
  constexpr double ticks_in_a_load = 10;
  if (limit >= ticks_in_a_load * ns(1)) *memory_load_ns_ = limit;
  return *memory_load_ns_;
}

// Continues through the ring that was just walked, so that each line was either kept in a cache or evicted.
std::optional<double> Runner::share_from_memory(const std::byte* base, std::uint64_t offset, std::uint64_t blocks) {
  const auto limit = memory_load_ns();
  if (!limit) return std::nullopt;
  const std::uint64_t loads = std::min<std::uint64_t>(blocks, 4096);
  std::uint64_t slow = 0;
  for (std::uint64_t i = 0; i < loads; ++i) {
    const Timed one = chase(base, offset, 1);
    offset = one.offset;
    if (ns(one.ticks()) - stamps_ns_ >= *limit) ++slow;
  }
  return static_cast<double>(slow) / static_cast<double>(loads);
}

Result<Visit> Runner::visit(const Lap& lap) {
  if (lap.blocks == 0 || lap.blocks > most_blocks || lap.pool_blocks > most_blocks) {
    return fail(Code::bad_usage, fmt::format("a ring of {} blocks cannot be walked", lap.blocks),
                "a region holds at least one block and fewer than 2^32");
  }
  // Before the ring is planted: both use the same bytes of a file.
  if (lap.count_from_memory) (void)memory_load_ns();
  auto area = fresh(lap.span_bytes(), lap.pages, lap.node);
  if (!area) return fail(area.error());
  if (has_words(lap.order)) return visit_words(lap, *area);
  if (lap.order == OrderKind::fresh_per_lap) return visit_fresh_laps(lap, *area);
  const bool scattered = lap.pool_blocks > lap.blocks;
  const Order order = scattered ? scattered_ring(lap.blocks, lap.pool_blocks, random_) : order_of(lap, random_);
  if (!scattered) {
    if (const auto checked = check_ring(successors(order)); !checked) return fail(checked.error());
  }
  plant(area->data(), order, lap.stride_bytes);
  Visit visit = walk(area->data(), order.size(), {0, lap.batch_ns, lap.longest_lap_ns});
  visit.pages_got = area->got();
  if (lap.count_from_memory) visit.from_memory = share_from_memory(area->data(), visit.offset, order.size());
  if (!is_planted(area->data(), order, lap.stride_bytes)) return fail(damaged());
  put_aside(*std::move(area), lap.pages.value_or(plan_.pages));
  return visit;
}

void Runner::put_aside(linux::Area area, linux::PageKind kind) {
  // A file always has the same frames, and reserved pages are few.
  const bool kernel_chooses = kind == linux::PageKind::small || kind == linux::PageKind::transparent;
  if (!plan_.file.empty() || !kernel_chooses) return;
  if (area.size() > most_aside_bytes_) return;  // keeps the retained areas
  aside_.push_back(std::move(area));
  std::size_t sum = 0;
  for (const linux::Area& one : aside_) sum += one.size();
  for (; sum > most_aside_bytes_; aside_.pop_front()) sum -= aside_.front().size();
}

Result<Visit> Runner::visit_words(const Lap& lap, const linux::Area& area) {
  const auto chain = word_chain(lap.order, lap.blocks, lap.stride_bytes, random_);
  plant_chain(area.data(), chain);
  Visit visit = walk(area.data(), chain.size(), {0, lap.batch_ns, lap.longest_lap_ns});
  visit.pages_got = area.got();
  for (std::size_t k = 0; k < chain.size(); ++k) {
    std::uint64_t next = 0;
    std::memcpy(&next, area.data() + chain[k], sizeof next);
    if (next != chain[k + 1 == chain.size() ? 0 : k + 1]) return fail(damaged());
  }
  return visit;
}

// A batch is one or more laps, each planted again before it starts, or a part of a long lap.
Result<Visit> Runner::visit_fresh_laps(const Lap& lap, const linux::Area& area) {
  // In a shorter time, the stamps, which are subtracted, would take most of it.
  constexpr double least_timed_ns = 20'000;
  Order order;
  const auto plant_again = [&] {
    order = random_ring(lap.blocks, random_);
    plant(area.data(), order, lap.stride_bytes);
  };
  plant_again();
  if (const auto checked = check_ring(successors(order)); !checked) return fail(checked.error());
  Visit visit;
  calibrate();
  visit.ghz = core_ghz();
  visit.reference_ns = reference_ns();
  const std::uint64_t few = std::min<std::uint64_t>(lap.blocks, 2048);
  const double step_ns = std::max(0.1, ns(chase(area.data(), 0, few).ticks()) / static_cast<double>(few));
  const std::uint64_t steps = std::min(lap.blocks, batch_steps(step_ns, lap.blocks, lap.batch_ns));
  const double timed_ns = step_ns * static_cast<double>(steps);
  const auto parts = static_cast<std::uint64_t>(std::ceil(std::max(1.0, least_timed_ns / timed_ns)));
  const std::uint64_t stamps = ticks_of_stamps();
  std::uint64_t done = lap.blocks;
  std::uint64_t offset = 0;
  const auto body = [&] {
    Timed sum;
    for (std::uint64_t part = 0; part < parts; ++part) {
      if (done + steps > lap.blocks) {
        plant_again();
        done = offset = 0;
      }
      const Timed timed = chase(area.data(), offset, steps);
      offset = timed.offset;
      done += steps;
      if (part == 0) sum.start = sum.end = timed.start;
      sum.end.processor = timed.end.processor;
      sum.end.ticks += timed.ticks() - std::min(stamps, timed.ticks());
    }
    return sum;
  };
  collect(visit, body, steps * parts, plan_.batches);
  visit.counts.clear();  // the counts include the planting between the parts
  visit.whole_laps = steps == lap.blocks;
  visit.reference_ns = std::max(visit.reference_ns, reference_ns());
  visit.pages_got = area.got();
  if (!is_planted(area.data(), order, lap.stride_bytes)) return fail(damaged());
  return visit;
}

Result<Visit> Runner::visit_once(const Lap& lap) {
  auto area = fresh(lap.span_bytes(), lap.pages, lap.node);
  if (!area) return fail(area.error());
  const Order order = order_of(lap, random_);
  if (const auto checked = check_ring(successors(order)); !checked) return fail(checked.error());
  plant(area->data(), order, lap.stride_bytes);
  if (!flush(area->data(), lap.span_bytes(), line_bytes)) {
    return fail(Code::cannot_measure, "programs cannot flush the caches of this processor",
                "tasks that walk laps do not flush them");
  }
  Visit visit;
  visit.pages_got = area->got();
  calibrate();
  visit.ghz = core_ghz();
  visit.reference_ns = reference_ns();
  const std::uint64_t steps = std::min<std::uint64_t>(lap.blocks, 4096);
  std::uint64_t offset = 0;
  const auto body = [&] {
    const Timed timed = chase(area->data(), offset, steps);
    offset = timed.offset;
    return timed;
  };
  // Each line is touched once, so a rejected batch is lost.
  for (std::uint64_t done = 0; done + steps <= lap.blocks; done += steps) {
    if (auto one = batch(body, steps)) {
      visit.ns.push_back(one->ns);
      visit.counts.push_back(std::move(one->counts));
    } else {
      ++visit.rejected;
    }
  }
  if (!is_planted(area->data(), order, lap.stride_bytes)) return fail(damaged());
  return visit;
}

}  // namespace tally::memory
