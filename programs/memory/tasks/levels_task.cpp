// The report: a curve, geometry, and the controls that may contradict them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "programs/memory/analysis/advice.hpp"
#include "programs/memory/analysis/dismissal.hpp"
#include "programs/memory/analysis/findings.hpp"
#include "programs/memory/analysis/held.hpp"
#include "programs/memory/analysis/size_text.hpp"
#include "programs/memory/analysis/slopes.hpp"
#include "programs/memory/controls.hpp"
#include "programs/memory/curve.hpp"
#include "programs/memory/measure_translations.hpp"
#include "programs/memory/reported.hpp"
#include "programs/memory/room.hpp"
#include "programs/memory/rows.hpp"
#include "programs/memory/statistics/timing_statistics.hpp"
#include "programs/memory/tasks/task.hpp"
#include "programs/memory/tasks/task_sizes.hpp"
#include "tally/core/base/text.hpp"
#include "tally/linux/machine/pages.hpp"

namespace tally::memory {
namespace {

// Larger sizes get fewer mappings: as many as need to agree by more than chance.
constexpr std::uint64_t large_bytes = 16 * mebibyte;
constexpr int large_mappings = 3;

// Shares of the progress bar: about the time that each part takes.
constexpr double curve_done = 0.55;
constexpr double rises_done = 0.75;
constexpr double controls_done = 0.95;

Result<void> first_curve(Runner& runner, CurveRun& run, std::uint64_t last) {
  std::vector<std::uint64_t> usual;
  std::vector<std::uint64_t> large;
  std::vector<std::uint64_t> costly;
  for (const std::uint64_t size : size_grid(runner.plan().from_bytes, last, 8, line_bytes)) {
    (size <= large_bytes ? usual : size <= costly_region ? large : costly).push_back(size);
  }
  // Every fourth size and the last: two per octave.
  std::vector<std::uint64_t> thinned;
  for (std::size_t i = costly.size(); i-- > 0;) {
    if ((costly.size() - 1 - i) % 4 == 0) thinned.push_back(costly[i]);
  }
  const int mappings = runner.plan().mappings;
  if (auto measured = run.measure(usual, mappings, 0, 0.5 * curve_done); !measured) return measured;
  if (auto measured = run.measure(large, std::min(large_mappings, mappings), 0.5 * curve_done, 0.8 * curve_done);
      !measured) {
    return measured;
  }
  return run.measure(thinned, std::min(costly_mappings, mappings), 0.8 * curve_done, curve_done);
}

// Larger rises are not refined: a shared last level changes by more than that meanwhile.
double finest_bytes(const Runner& runner) {
  double last_own = 0;
  for (const ReportedCache& one : reported_caches(runner.processor())) {
    if (!one.shared) last_own = std::max(last_own, static_cast<double>(one.bytes));
  }
  return last_own > 0 ? 2 * last_own : 8.0 * mebibyte;
}

// Measures more points around each rise, in two rounds of halving: up to 32 per octave.
Result<void> refine(Runner& runner, CurveRun& run, double start) {
  const double finest = finest_bytes(runner);
  for (int round = 0; round < 2; ++round) {
    const Curve curve = run.curve();
    const auto plateaus = find_plateaus(curve);
    std::vector<std::uint64_t> sizes;
    for (std::size_t i = 0; i + 1 < plateaus.size(); ++i) {
      const Rise rise = find_rise(curve, plateaus[i], plateaus[i + 1]);
      if (rise.half_bytes > finest) continue;
      const auto added =
          sizes_between(curve, rise.below_bytes / 1.2, rise.beyond_bytes * 1.2, std::exp2(1.1 / 32), line_bytes);
      sizes.insert(sizes.end(), added.begin(), added.end());
    }
    const double from = start + 0.05 * round;
    if (auto measured = run.measure(sizes, runner.plan().mappings, from, from + 0.05); !measured) return measured;
  }
  return {};
}

// The capacity of a level around whose end the curve slopes, from rings whose lines are spread over a region four times
// as large. Empty if they show no rise.
Result<std::optional<Capacity>> scattered_capacity(Runner& runner, double half_bytes, double seconds,
                                                   result::Memory& result) {
  const auto whole = [](double bytes) { return static_cast<std::uint64_t>(bytes) / line_bytes * line_bytes; };
  CurveRun run(runner, whole(4 * half_bytes));
  const double end = runner.seconds_left() - seconds;
  const auto sizes = size_grid(whole(half_bytes / 4), whole(3 * half_bytes), 16, line_bytes);
  auto measured = run.measure(sizes, runner.plan().mappings, rises_done - 0.1, rises_done - 0.03, seconds);
  if (measured) measured = run.again(rises_done - 0.03, rises_done, runner.seconds_left() - end);
  const auto rows = run.rows();
  result.points.insert(result.points.end(), rows.begin(), rows.end());
  if (!measured) return fail(measured.error());
  return find_scattered(run.curve());
}

// Capacities to measure with scattered rings: private caches at whose end the curve slopes, because frames select their
// sets, and reported private caches that the curve does not show.
std::vector<double> sizes_to_scatter(const Runner& runner, const Curve& curve) {
  const double finest = finest_bytes(runner);
  const auto plateaus = find_plateaus(curve);
  std::vector<double> sloped;
  std::vector<double> all;
  const double reached_bytes = curve.empty() ? 0 : curve.back().size_bytes;
  for (std::size_t i = 0; i + 1 < plateaus.size(); ++i) {
    if (is_slope(plateaus[i].ns, plateaus[i + 1].ns)) continue;
    const Fit fit = fit_rise(curve, plateaus[i], plateaus[i + 1], static_cast<double>(linux::page_bytes()));
    all.push_back(fit.capacity_bytes);
    const bool slopes = fit.shape == Shape::page_colours || fit.shape == Shape::random_replacement;
    if (slopes && fit.capacity_bytes <= finest) sloped.push_back(fit.capacity_bytes);
  }
  for (const ReportedCache& one : reported_caches(runner.processor())) {
    const auto bytes = static_cast<double>(one.bytes);
    const bool shown =
        std::any_of(all.begin(), all.end(), [&](double rise) { return rise >= bytes / 1.6 && rise <= bytes * 1.6; });
    if (one.level > 1 && !one.shared && !shown && reached_bytes >= 4 * bytes) sloped.push_back(bytes);
  }
  return sloped;
}

std::vector<Capacity> scattered_capacities(Runner& runner, const Curve& curve, double seconds, result::Memory& result) {
  const double end = runner.seconds_left() - seconds;
  std::vector<Capacity> found;
  for (const double bytes : sizes_to_scatter(runner, curve)) {
    const double left = runner.seconds_left() - end;
    if (left <= 0 || runner.must_stop()) break;
    const auto one = scattered_capacity(runner, bytes, left, result);
    if (!one) {
      // The curve itself has a capacity too.
      result.notices.push_back("no rings of scattered lines: " + one.error().message);
      break;
    }
    if (*one) found.push_back(**one);
  }
  return found;
}

// ns per load of a size in this order: the minimum of three mappings. Other work on the machine only makes it slower.
Result<double> least_ns(Runner& runner, double bytes, OrderKind order) {
  double least = INFINITY;
  for (int i = 0; i < 3 && !runner.must_stop(); ++i) {
    const auto visit = runner.visit({.blocks = static_cast<std::uint64_t>(bytes) / line_bytes,
                                     .stride_bytes = line_bytes,
                                     .order = order,
                                     .group_blocks = linux::page_bytes() / line_bytes});
    if (!visit) return fail(visit.error());
    if (!visit->ns.empty()) least = std::min(least, median(visit->ns));
  }
  return least;
}

// Whether a step is the end of a cache. It belongs to translation buffers if it vanishes when each page is finished
// before the next one begins, but is present in random order at the same time: the usable part of a shared cache
// changes. Beyond the second level that order helps prefetchers, which make both sides faster but keep the rise. Both
// sides are walked in the middle of their plateaus: just above a step only some loads miss, just below it other
// programs cause misses.
Result<bool> is_cache_rise(Runner& runner, const Curve& curve, const Plateau& below, const Plateau& above) {
  const auto walk = [&](OrderKind order) -> Result<StepWalk> {
    const auto low = least_ns(runner, middle_bytes(curve, below), order);
    if (!low) return fail(low.error());
    const auto high = least_ns(runner, middle_bytes(curve, above), order);
    if (!high) return fail(high.error());
    return StepWalk{*low, *high};
  };
  const auto by_page = walk(OrderKind::page_local);
  if (!by_page) return fail(by_page.error());
  if (!goes_away_by_page(*by_page, below.ns)) return true;
  const auto at_random = walk(OrderKind::random);
  if (!at_random) return fail(at_random.error());
  return !rises(*at_random);
}

// Which rises belong to caches. Removes plateaus of prefetchers: their latency is that of no level.
Result<std::vector<bool>> cache_rises(Runner& runner, const Curve& curve, std::vector<Plateau>& plateaus,
                                      result::Memory& result) {
  std::vector<bool> rises_of_caches;
  for (std::size_t i = 0; i + 1 < plateaus.size(); ++i) {
    if (is_slope(plateaus[i].ns, plateaus[i + 1].ns)) {
      rises_of_caches.push_back(false);
      continue;
    }
    if (i > 0 && rises_of_caches[i - 1] &&
        is_of_prefetchers(curve, plateaus[i - 1], plateaus[i], plateaus[i + 1],
                          static_cast<double>(linux::page_bytes()))) {
      result.findings.push_back(
          fmt::format("{:.2f} ns at {} is not a level: each miss also fetches a neighbouring line", plateaus[i].ns,
                      size_text(middle_bytes(curve, plateaus[i]))));
      plateaus.erase(plateaus.begin() + static_cast<std::ptrdiff_t>(i--));
      continue;
    }
    const auto is_cache = is_cache_rise(runner, curve, plateaus[i], plateaus[i + 1]);
    if (!is_cache) return fail(is_cache.error());
    rises_of_caches.push_back(*is_cache);
    if (!*is_cache) {
      result.findings.push_back(fmt::format(
          "the step from {:.2f} to {:.2f} ns at {} is caused by translation buffers: it vanishes page by page",
          plateaus[i].ns, plateaus[i + 1].ns, size_text(curve[plateaus[i].last].size_bytes)));
    }
  }
  return rises_of_caches;
}

// Measures ways, sets and line size of the first level.
Result<void> measure_geometry(Runner& runner, const std::vector<Plateau>& plateaus, Witnesses& witnesses,
                              const Curve& curve) {
  if (plateaus.size() < 2) return {};
  const auto hits = hit_counts(runner, plateaus[0].ns, plateaus[1].ns, 128 << 10, 3);
  if (!hits) return fail(hits.error());
  const auto first_bytes = static_cast<std::uint64_t>(curve[plateaus[0].last].size_bytes);
  const auto pairs = pair_times(runner, 4 * std::bit_ceil(first_bytes));
  if (!pairs) return fail(pairs.error());
  witnesses.line_bytes = line_size(*pairs);
  witnesses.first_level = cache_geometry(*hits, witnesses.line_bytes.value_or(line_bytes));
  return {};
}

Result<void> measure_ladder(Runner& runner, result::Memory& result) {
  struct Pair {
    std::uint64_t far_bytes = 0;
    double near_ns = 0;
    double far_ns = 0;
  };
  // With small pages, lines that are far apart also wait for translations; at 512 bytes, eight lines share a page.
  Pair small{512};
  Pair huge{4096};
  for (const auto pages : {linux::PageKind::small, linux::PageKind::transparent}) {
    const auto rungs = ladder(runner, pages, 2);
    if (!rungs) {
      result.notices.push_back("no ladder: " + rungs.error().message);
      return {};
    }
    for (const Rung& rung : *rungs) {
      result.controls.push_back({fmt::format("ladder {} B, {} pages", rung.stride_bytes, rung.pages_got),
                                 fmt::format("{:.1f} ns", rung.ns), rung.ns, "ns"});
      Pair& pair = pages == linux::PageKind::small ? small : huge;
      if (pages != linux::PageKind::small && rung.pages_got != "thp") continue;
      if (rung.stride_bytes == 64) pair.near_ns = rung.ns;
      if (rung.stride_bytes == pair.far_bytes) pair.far_ns = rung.ns;
    }
  }
  const Pair& pair = huge.near_ns > 0 && huge.far_ns > 0 ? huge : small;
  if (pair.near_ns <= 0 || pair.far_ns <= 0) return {};
  // A smaller ratio is within the differences between runs.
  const bool visible = pair.far_ns > 1.15 * pair.near_ns;
  result.findings.push_back(fmt::format("prefetch: {} (cold, lines 64 bytes apart {:.0f} ns, {} apart {:.0f} ns{}){}",
                                        visible ? "visible" : "not visible", pair.near_ns, pair.far_bytes, pair.far_ns,
                                        &pair == &huge ? ", huge pages" : "",
                                        visible ? ": entry sizes above the line are not claimed" : ""));
  return {};
}

void add_curve(Runner& runner, const CurveRun& run, result::Memory& result) {
  result.points = run.rows();
  const auto held = run.held_sizes();
  const auto known = known_caches(reported_caches(runner.processor()));
  // A notice, not a finding: conclusions from a contended run are dropped, and this is the reason.
  if (std::any_of(held.begin(), held.end(), is_held)) {
    if (auto words = held_finding(held, known, runner.memory_load_ns().value_or(0))) {
      result.notices.push_back(*std::move(words));
    }
  }
  for (const HeldSize& one : held) {
    if (!is_held(one)) continue;
    result.controls.push_back({fmt::format("loads from memory, {}", size_text(static_cast<double>(one.bytes))),
                               fmt::format("{:.0f} %", 100 * one.share), one.share, "share"});
  }
  const RunVerdict verdict = run.verdict();
  result.verdict.contended = verdict.contended;
  result.verdict.text = verdict.why;
  // Settled points have no flag for a shared processor.
  result.verdict.cause = run.waited_share() > waited_too_long ? std::string(processor_shared) : cause_of(run.curve());
  if (result.verdict.cause.empty()) result.verdict.cause = verdict.cause;
  result.verdict.points = static_cast<std::int64_t>(result.points.size());
  result.verdict.flagged = static_cast<std::int64_t>(run.flagged());
  result.verdict.reference_moved_percent = verdict.reference_moved_percent;
  const auto tried = static_cast<double>(run.batches() + run.rejected());
  result.verdict.rejected_percent = tried > 0 ? 100 * static_cast<double>(run.rejected()) / tried : 0;
}

Result<std::uint64_t> requested_last_size(const Runner& runner) {
  const auto available = linux::available_bytes();
  const std::uint64_t asked = runner.plan().to_bytes;
  if (asked > 0) {
    if (runner.plan().file.empty()) {
      if (auto fit = fits(asked, "--to"); !fit) return fail(fit.error());
    }
    return asked;
  }
  const auto caches = reported_caches(runner.processor());
  const std::uint64_t last_level = caches.empty() ? 32 * mebibyte : static_cast<std::uint64_t>(caches.back().bytes);
  return std::max(runner.plan().from_bytes, std::min({available.value_or(4 * last_level) / 4,
                                                      std::max(4 * last_level, 2 * costly_region), 1024 * mebibyte}));
}

}  // namespace

Result<std::uint64_t> last_size(const Runner& runner) {
  auto last = requested_last_size(runner);
  if (!last || runner.plan().file.empty()) return last;
  // Reports a file that is too small before anything is measured.
  const auto area = linux::Area::map_file(runner.plan().file, *last);
  if (!area) return fail(area.error());
  return last;
}

Result<void> run_curve(Runner& runner, result::Memory& result) {
  const auto last = last_size(runner);
  if (!last) return fail(last.error());
  CurveRun run(runner);
  auto measured = first_curve(runner, run, *last);
  if (measured) measured = run.again(curve_done, 1, runner.seconds_left());
  add_curve(runner, run, result);
  return measured;
}

namespace {

// Evaluates the controls, and derives the levels of a curve.
Result<void> conclude(Runner& runner, const CurveRun& run, std::vector<Capacity> scattered, result::Memory& result) {
  const Curve curve = run.curve();
  auto plateaus = find_plateaus(curve);
  runner.plan().progress(rises_done, "which steps belong to caches");
  const auto cache_rise = cache_rises(runner, curve, plateaus, result);
  if (!cache_rise) return fail(cache_rise.error());
  auto spans = join_spans(plateaus, *cache_rise);
  Witnesses witnesses;
  witnesses.reported = known_caches(reported_caches(runner.processor()));
  witnesses.ghz = run.ghz();
  witnesses.scattered = std::move(scattered);
  witnesses.waited_share = run.waited_share();
  witnesses.suggested_options = suggested_options(circumstances(runner));
  if (runner.plan().stop()) {
    witnesses.cut_short = "it was interrupted there";
  } else if (runner.seconds_left() <= 0) {
    witnesses.cut_short = "the time limit was reached there: increase --time-budget";
  }
  witnesses.page_bytes = static_cast<double>(linux::page_bytes());
  witnesses.least_memory_ns = runner.memory_load_ns().value_or(0);
  runner.plan().progress(rises_done + 0.05, "lines, ways and sets");
  const bool first_is_calm = !spans.empty() && contention_of(curve, spans.front()).empty();
  if (first_is_calm) {
    if (auto done = measure_geometry(runner, plateaus, witnesses, curve); !done) {
      result.levels = find_levels(curve, spans, witnesses);
      return done;
    }
    runner.plan().progress(controls_done - 0.1, "translation buffers");
    const auto translations = measure_translations(runner);
    if (!translations) {
      result.levels = find_levels(curve, spans, witnesses);
      return fail(translations.error());
    }
    result.tlbs = rows_of(*translations, runner);
    witnesses.translations = first_translations(*translations, runner);
    spans = join_translations(curve, spans, witnesses);
  }
  result.levels = find_levels(curve, spans, witnesses);
  describe_held(run.held_sizes(), result.levels);
  const LevelsVerdict verdict = judge_levels(curve, result.levels, witnesses.waited_share);
  result.verdict.contended = verdict.contended;
  result.verdict.text = verdict.why;
  if (!first_is_calm) {
    if (verdict.contended) result.verdict.text += "; ways and translation buffers were not measured";
    return {};
  }
  runner.plan().progress(controls_done, "the ladder");
  return result.levels.back().contended ? Result<void>() : measure_ladder(runner, result);
}

}  // namespace

Result<void> run_levels(Runner& runner, result::Memory& result) {
  const auto last = last_size(runner);
  if (!last) return fail(last.error());
  CurveRun run(runner);
  auto measured = first_curve(runner, run, *last);
  if (measured) measured = refine(runner, run, curve_done);
  // Measures flagged points again while there is time; the controls that follow take about this long.
  constexpr double controls_seconds = 15;
  const auto spare_seconds = [&] { return runner.seconds_left() - controls_seconds; };
  if (measured) measured = run.again(curve_done + 0.1, rises_done - 0.15, spare_seconds());
  // A rise may be visible only now.
  if (measured && spare_seconds() > 0) measured = refine(runner, run, rises_done - 0.15);
  if (measured) measured = run.again(rises_done - 0.1, rises_done - 0.1, spare_seconds());
  add_curve(runner, run, result);
  if (!measured) return measured;
  return conclude(runner, run, scattered_capacities(runner, run.curve(), spare_seconds(), result), result);
}

}  // namespace tally::memory
