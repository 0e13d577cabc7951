// Tests of the levels that are derived from curves.
#include "programs/memory/analysis/findings.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "programs/memory/analysis/points.hpp"
#include "programs/memory/analysis/shape.hpp"
#include "programs/memory/analysis/simulated_testing.hpp"
#include "programs/memory/analysis/sizes_testing.hpp"

namespace tally::memory {
namespace {

// Three levels of 48 K, 2 M and 32 M, and translations of 96 pages (384 K), with two percent of noise.
Curve machine(Random& random) {
  Curve curve;
  for (const std::uint64_t bytes : size_grid(4096, 256 << 20, 8, 64)) {
    const auto size = static_cast<double>(bytes);
    double ns = 1.2;
    if (size > 48 * kib) ns += 2.8;
    if (size > 96 * 4096) ns += 1.7;
    if (size > 2 * mib) ns += 32;
    if (size > 32 * mib) ns += 120;
    CurvePoint point{size, ns * noise(random, 0.02 / 3), false, {}};
    for (int mapping = 0; mapping < 3; ++mapping) {
      std::vector<double> batches;
      for (int i = 0; i < 10; ++i) batches.push_back(ns * noise(random, 0.02));
      point.mappings.push_back(std::move(batches));
    }
    curve.push_back(std::move(point));
  }
  return curve;
}

Witnesses known() {
  Witnesses witnesses;
  witnesses.reported = {{1, 48 << 10, false}, {2, 2 << 20, false}, {3, 480 << 20, true}};
  witnesses.first_level = Geometry{12, 64, 48 << 10, ""};
  witnesses.line_bytes = 64;
  witnesses.ghz = 4;
  witnesses.suggested_options = "--mappings 10 --time-budget 180";
  return witnesses;
}

// SlopingRise for a level of 1 M in 8 ways, similar to a virtual machine (AMD EPYC, Zen 4; a missed translation costs 2
// ns there) with a translation buffer of 72 pages and a shared level after it, and memory from 16 M on.
Curve modelled_slope() {
  Curve curve;
  for (const std::uint64_t bytes : size_grid(64 << 10, 128 << 20, 8, 64)) {
    const auto size = static_cast<double>(bytes);
    const double missed = misses_colours(size / 4096, 32, 8);
    const double translation = 4 * std::max(0.0, 1 - 72 * 4096 / size);
    const double ns = (3.8 + translation + 5.8 * missed) / (1 - missed * 0.06 / mib * std::min(size, 4 * mib));
    curve.push_back({size, size > 16 * mib ? 150 : ns, false, {}});
  }
  return curve;
}

TEST(Levels, between_slopes_have_the_right_size) {
  const Curve curve = modelled_slope();
  const auto plateaus = find_plateaus(curve);
  ASSERT_GE(plateaus.size(), 3u);
  Witnesses witnesses;
  witnesses.reported = {{2, 1 << 20, false}, {3, 32 << 20, true}};
  witnesses.translations = {72 * 4096, 0};
  const auto levels = find_levels(curve, join_spans(plateaus, std::vector<bool>(plateaus.size() - 1, true)), witnesses);
  ASSERT_FALSE(levels.empty());
  EXPECT_EQ(levels[0].name, "L2");
  EXPECT_NEAR(*levels[0].capacity_bytes, mib, 0.01 * mib);
  EXPECT_TRUE(levels[0].snapped);
  EXPECT_EQ(levels[0].grade, result::Grade::medium) << levels[0].because;
  EXPECT_EQ(levels[0].because, "no second measurement confirms it");
  witnesses.translations = {};
  const auto blind = find_levels(curve, join_spans(plateaus, std::vector<bool>(plateaus.size() - 1, true)), witnesses);
  ASSERT_FALSE(blind.empty());
  EXPECT_TRUE(blind[0].because.starts_with("ignores missed translations")) << blind[0].because;
}

// A missed translation makes a plateau of its own before the cache ends.
TEST(Levels, between_slopes_start_before_missed_translations) {
  const Curve curve = modelled_slope();
  const auto plateaus = find_plateaus(curve);
  ASSERT_GE(plateaus.size(), 3u);
  std::size_t first = 0;
  while (curve[first].size_bytes < 0.45 * mib) ++first;
  std::size_t last = first;
  while (curve[last + 1].size_bytes < 0.75 * mib) ++last;
  const Plateau missing{first, last, curve[(first + last) / 2].ns};
  std::vector<LevelSpan> spans = join_spans(plateaus, std::vector<bool>(plateaus.size() - 1, true));
  spans[0].last = missing;
  Witnesses witnesses;
  witnesses.reported = {{2, 1 << 20, false}, {3, 32 << 20, true}};
  for (const double miss_ns : {0.0, 4.0}) {
    witnesses.translations = {72 * 4096, miss_ns};
    const auto levels = find_levels(curve, spans, witnesses);
    ASSERT_FALSE(levels.empty());
    EXPECT_NEAR(*levels[0].capacity_bytes, mib, 0.01 * mib) << miss_ns;
    EXPECT_NEAR(levels[0].ns, 3.8, 0.1);
  }
}

TEST(Levels, skip_steps_that_are_not_levels) {
  Random random(1);
  const Curve curve = machine(random);
  const auto plateaus = find_plateaus(curve);
  ASSERT_EQ(plateaus.size(), 5u);
  const auto spans = join_spans(plateaus, {true, false, true, true});
  ASSERT_EQ(spans.size(), 4u) << "the step of translations is dismissed";
  const auto levels = find_levels(curve, spans, known());
  ASSERT_EQ(levels.size(), 4u);
  EXPECT_EQ(levels[0].name, "L1d");
  EXPECT_TRUE(levels[0].snapped);
  EXPECT_EQ(levels[0].grade, result::Grade::high) << levels[0].because;
  EXPECT_EQ(levels[0].ways, 12);
  EXPECT_EQ(levels[0].sets, 64);
  EXPECT_EQ(levels[0].line_bytes, 64);
  EXPECT_NEAR(levels[0].ns, 1.2, 0.024);
  EXPECT_NEAR(*levels[0].cycles, 4.8, 0.1);
  EXPECT_EQ(levels[1].name, "L2");
  EXPECT_TRUE(levels[1].snapped);
  EXPECT_NEAR(*levels[1].capacity_bytes, 2 * mib, 0.09 * 2 * mib);
  EXPECT_NEAR(levels[1].ns, 4, 0.08) << "without the translations";
  EXPECT_EQ(levels[1].grade, result::Grade::medium) << "there is no second measurement confirms it";
  EXPECT_EQ(levels[2].name, "LLC");
  EXPECT_FALSE(levels[2].snapped) << "a shared level is never snapped";
  EXPECT_TRUE(levels[2].effective);
  EXPECT_EQ(levels[2].reported_bytes, 480 << 20);
  EXPECT_EQ(levels[2].grade, result::Grade::low);
  EXPECT_FALSE(levels[3].capacity_bytes);
}

std::vector<result::MemoryLevel> levels_of(const Curve& curve, const std::vector<bool>& cache_rises) {
  return find_levels(curve, join_spans(find_plateaus(curve), cache_rises), known());
}

void flag(Curve& curve, double from, double to) {
  for (CurvePoint& point : curve) {
    if (point.size_bytes < from || point.size_bytes > to) continue;
    point.flagged = true;
    point.why = "mappings differ";
    point.ns *= 3;
  }
}

TEST(Levels, have_counts_of_undisturbed_points) {
  Random random(1);
  Curve curve = machine(random);
  for (std::size_t i = 0; i < curve.size(); ++i) {
    curve[i].counts = {static_cast<double>(i), curve[i].size_bytes > 48 * kib ? 1.0 : 0.0};
  }
  for (std::size_t i = 1; i < 5; ++i) curve[i].flagged = true;
  auto levels = levels_of(curve, {true, false, true, true});
  ASSERT_EQ(levels.size(), 4u);
  EXPECT_EQ(levels[0].counts, (std::vector<double>{16, 0})) << "the middle of 0 and 5 to 28";
  for (std::size_t i = 1; i < 4; ++i) EXPECT_EQ(levels[i].counts[1], 1) << i;
  curve[16].counts.clear();  // in no batch did all counters run
  levels = levels_of(curve, {true, false, true, true});
  EXPECT_EQ(levels[0].counts, (std::vector<double>{16, 0})) << "between 15 and 17";
  levels = levels_of(machine(random), {true, false, true, true});
  EXPECT_TRUE(levels[0].counts.empty()) << "nothing was counted";
}

TEST(Levels, report_the_most_frequent_cause) {
  Random random(1);
  Curve curve = machine(random);
  EXPECT_EQ(cause_of(curve), "");
  EXPECT_EQ(cause_of({}), "");
  flag(curve, 0, mib);
  curve.front().why = "laps differ";
  EXPECT_EQ(cause_of(curve), "mappings differ");
}

TEST(Levels, of_a_calm_machine_are_not_contended) {
  Random random(1);
  const Curve curve = machine(random);
  EXPECT_FALSE(judge_levels(curve, levels_of(curve, {true, false, true, true})).contended);
}

TEST(Levels, without_number_only_if_contended) {
  Random random(1);
  Curve curve = machine(random);
  flag(curve, 2.1 * mib, 31 * mib);
  const auto levels = levels_of(curve, {true, false, true});
  ASSERT_EQ(levels.size(), 4u);
  EXPECT_TRUE(levels[0].snapped);
  EXPECT_FALSE(levels[0].contended);
  EXPECT_EQ(levels[1].name, "L2");
  EXPECT_TRUE(levels[1].contended) << "its end is unknown: it may hide a level";
  EXPECT_FALSE(levels[1].capacity_bytes);
  EXPECT_NEAR(levels[1].ns, 4, 0.08) << "its latency is";
  EXPECT_TRUE(levels[1].because.starts_with("contended: 31 of ")) << levels[1].because;
  EXPECT_NE(levels[1].because.find(": mappings differ"), std::string::npos) << levels[1].because;
  EXPECT_EQ(levels[2].name, "LLC");
  EXPECT_TRUE(levels[2].contended);
  EXPECT_EQ(levels[2].ns, 0);
  EXPECT_EQ(levels[3].name, "memory");
  EXPECT_FALSE(levels[3].contended);
  const LevelsVerdict verdict = judge_levels(curve, levels);
  EXPECT_TRUE(verdict.contended);
  EXPECT_EQ(verdict.why, "L2, LLC; measured: L1d, memory");
}

TEST(Levels, after_a_calm_rise_are_contended_separately) {
  Random random(1);
  Curve curve = machine(random);
  // The rest of the last level is a plateau, most of which was contended.
  flag(curve, 3.3 * mib, 12 * mib);
  const auto levels = levels_of(curve, {true, false, true, true});
  EXPECT_EQ(judge_levels(curve, levels).why, "LLC; measured: L1d, L2, memory");
  EXPECT_TRUE(levels[1].snapped);
  EXPECT_FALSE(levels[2].capacity_bytes);
  EXPECT_EQ(levels[2].ns, 0);
}

// The curve of the test above, and scattered rings that stay below the sizes that others fill.
TEST(Levels, with_hidden_end_use_scattered_rings) {
  Random random(1);
  Curve curve = machine(random);
  flag(curve, 2.1 * mib, 31 * mib);
  Witnesses witnesses = known();
  witnesses.scattered = {{2.1 * mib, 2 * mib, 2.2 * mib}};
  const auto spans = join_spans(find_plateaus(curve), {true, false, true});
  const auto levels = find_levels(curve, spans, witnesses);
  ASSERT_EQ(levels.size(), 4u);
  EXPECT_TRUE(levels[1].snapped);
  EXPECT_EQ(levels[1].capacity_bytes, 2.1 * mib);
  EXPECT_NEAR(levels[1].ns, 4, 0.08);
  EXPECT_NE(levels[1].because.find("scattered lines; the curve is contended there"), std::string::npos)
      << levels[1].because;
  EXPECT_EQ(levels[2].name, "LLC");
  EXPECT_TRUE(levels[2].contended) << "nothing measured it";
  EXPECT_EQ(judge_levels(curve, levels).why, "LLC; measured: L1d, L2, memory");
  witnesses.scattered[0].bytes = 8 * mib;
  EXPECT_TRUE(find_levels(curve, spans, witnesses)[1].contended) << "that is another one";
  witnesses.scattered[0].bytes = 2.1 * mib;
  witnesses.reported[1].shared = true;
  EXPECT_TRUE(find_levels(curve, spans, witnesses)[1].contended) << "others may fill it as well";
}

TEST(Levels, may_hide_in_a_gap_of_a_calm_curve) {
  Random random(1);
  Curve curve = machine(random);
  flag(curve, 2.1 * mib, 4 * mib);
  for (CurvePoint& point : curve) {
    if (point.size_bytes > 4 * mib && point.size_bytes < 32 * mib) point.ns = 9 * point.size_bytes / mib;
  }
  const auto levels = levels_of(curve, {true, false, true});
  ASSERT_GE(levels.size(), 3u);
  EXPECT_TRUE(levels[1].contended) << "8 adjacent points of 34 are flagged";
  EXPECT_EQ(levels[2].name, "LLC");
}

TEST(Levels, of_a_busy_machine_are_none) {
  Random random(1);
  Curve curve = machine(random);
  flag(curve, 0, 1e12);
  const auto levels = levels_of(curve, {});
  for (const auto& level : levels) {
    EXPECT_TRUE(level.contended);
    EXPECT_FALSE(level.capacity_bytes);
    EXPECT_EQ(level.ns, 0);
  }
  EXPECT_EQ(levels.size(), 3u);
  EXPECT_EQ(judge_levels(curve, levels).why, std::to_string(curve.size()) + " of " + std::to_string(curve.size()) +
                                                 " points flagged (mappings differ): no capacities reported");
  EXPECT_TRUE(judge_levels({}, {}).contended);
}

TEST(Levels, noise_lowers_the_grade) {
  Random random(1);
  Curve curve = machine(random);
  for (CurvePoint& point : curve) {
    point.rejected_share = 0.12;
    point.quiet_share = 0.4;
  }
  const auto levels = levels_of(curve, {true, false, true, true});
  EXPECT_EQ(levels[0].grade, result::Grade::medium) << "there is a second witness";
  EXPECT_EQ(levels[1].grade, result::Grade::low);
  EXPECT_NE(levels[0].because.find("12 % of the batches rejected"), std::string::npos);
  EXPECT_NE(levels[0].because.find("undisturbed in only 40 % of its mappings"), std::string::npos);
  EXPECT_TRUE(levels[0].snapped) << "few timings were thrown away, and none was wrong";
}

TEST(Levels, a_capacity_far_from_the_reported_size_does_not_match) {
  Random random(1);
  const Curve curve = machine(random);
  Witnesses witnesses = known();
  witnesses.reported = {{1, 32 << 10, false}, {2, 512 << 10, false}};
  const auto levels = find_levels(curve, join_spans(find_plateaus(curve), {true, false, true, true}), witnesses);
  EXPECT_FALSE(levels[0].snapped) << "48 K is no 32 K";
  EXPECT_EQ(levels[0].reported_bytes, 32 << 10);
  EXPECT_FALSE(levels[1].reported_bytes);
  EXPECT_EQ(levels[1].name, "level 2");
}

// On a machine with a load of 19 the step of 72 translations was "LLC 558 K", undisturbed.
TEST(Levels, below_the_second_cache_are_no_last_level) {
  Curve curve;
  for (const std::uint64_t bytes : size_grid(4096, 128 << 20, 8, 64)) {
    const auto size = static_cast<double>(bytes);
    curve.push_back({size, size <= 32 * kib ? 1.1 : size <= 558 * kib ? 3.8 : size <= 4 * mib ? 5.6 : 150, false, {}});
  }
  const auto plateaus = find_plateaus(curve);
  ASSERT_EQ(plateaus.size(), 4u);
  Witnesses witnesses;
  witnesses.reported = {{1, 32 << 10, false}, {2, 1 << 20, false}, {3, 32 << 20, true}};
  const auto spans = join_spans(plateaus, {true, true, true});
  const auto levels = find_levels(curve, spans, witnesses);
  ASSERT_GE(levels.size(), 3u);
  EXPECT_EQ(levels[1].name, "level 2") << "a cache of 32 M after one of 1 M cannot end at half of it";
  EXPECT_EQ(levels[1].grade, result::Grade::low);
  EXPECT_TRUE(levels[1].because.find("the system reports no cache of this size") != std::string::npos)
      << levels[1].because;
  witnesses.translations = {72 * 4096, 2};
  const auto joined = join_translations(curve, spans, witnesses);
  ASSERT_EQ(joined.size(), 3u);
  EXPECT_EQ(joined[1].first, plateaus[1]);
  EXPECT_EQ(joined[1].last, plateaus[2]);
  for (const auto& level : find_levels(curve, joined, witnesses)) EXPECT_NE(level.name, "level 2") << level.because;
}

// The rise from the second level to memory in one slope, as if others used the whole last level.
TEST(Levels, reported_but_unseen_have_a_row_with_the_reason) {
  Random random(1);
  Curve curve = machine(random);
  for (CurvePoint& point : curve) {
    if (point.size_bytes > 2 * mib && point.size_bytes < 32 * mib) point.ns = 4 * point.size_bytes / mib;
  }
  const auto levels = levels_of(curve, {true, false, true});
  ASSERT_EQ(levels.size(), 4u);
  EXPECT_TRUE(levels[0].snapped);
  EXPECT_EQ(levels[1].name, "L2");
  EXPECT_TRUE(levels[1].unseen) << "a level that ends at 7 MiB is not the one of 2 MiB";
  EXPECT_FALSE(levels[1].capacity_bytes);
  EXPECT_NEAR(levels[1].ns, 4, 0.08) << "the plateau is inside it";
  EXPECT_FALSE(levels[1].contended);
  EXPECT_TRUE(levels[1].because.starts_with("not seen: the latency rises from ")) << levels[1].because;
  EXPECT_NE(levels[1].because.find("--time-budget"), std::string::npos) << levels[1].because;
  EXPECT_EQ(levels[2].name, "LLC");
  EXPECT_TRUE(levels[2].capacity_bytes);
  EXPECT_EQ(levels[2].ns, 0) << "that is the second level's";
  EXPECT_EQ(levels[3].name, "memory");
  EXPECT_FALSE(judge_levels(curve, levels).contended);
}

TEST(Levels, of_a_curve_that_ends_early_are_not_memory) {
  Random random(1);
  Curve curve = machine(random);
  std::erase_if(curve, [](const CurvePoint& point) { return point.size_bytes > mib; });
  const auto levels = levels_of(curve, {true, false});
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_TRUE(levels[1].unseen);
  EXPECT_EQ(levels[1].name, "L2");
  EXPECT_NEAR(levels[1].ns, 4, 0.08);
  EXPECT_NE(levels[1].because.find("the curve ends at 1.000 MiB, before this level does; extend"), std::string::npos)
      << levels[1].because;
  EXPECT_EQ(levels[2].name, "memory");
  EXPECT_TRUE(levels[2].unseen);
  EXPECT_EQ(levels[2].ns, 0);
}

TEST(Levels, before_a_final_rise_suggest_a_longer_curve) {
  Random random(1);
  Curve curve = machine(random);
  std::erase_if(curve, [](const CurvePoint& point) { return point.size_bytes > 2.7 * mib; });
  const auto levels = levels_of(curve, {true, false});
  EXPECT_EQ(levels[1].name, "L2");
  EXPECT_TRUE(levels[1].unseen);
  EXPECT_TRUE(levels[1].because.ends_with("; extend it with --to 1920M")) << levels[1].because;
  Witnesses witnesses = known();
  witnesses.cut_short = "it was interrupted there";
  const auto cut_short = find_levels(curve, join_spans(find_plateaus(curve), {true, false}), witnesses);
  EXPECT_TRUE(cut_short[1].because.ends_with("; it was interrupted there")) << cut_short[1].because;
  EXPECT_TRUE(cut_short.back().because.ends_with("; it was interrupted there")) << cut_short.back().because;
}

// As on a virtual machine whose neighbours fill the last level: 12 ns up to 10 MiB, then a rise that is never flat, up
// to four times the size that the system reports; or with 150 ns from 49 MiB on.
Curve filled_by_others(double flat_from) {
  Curve curve;
  for (const std::uint64_t bytes : size_grid(4096, 128 << 20, 8, 64)) {
    const auto size = static_cast<double>(bytes);
    const double rising = 12 * std::pow(std::min(size, flat_from) / (10 * mib), 1.6);
    curve.push_back({size, size <= 48 * kib ? 1 : size <= mib ? 3.3 : size <= 10 * mib ? 12 : rising, false, {}});
  }
  return curve;
}

std::vector<result::MemoryLevel> levels_with_32m(const Curve& curve, double least_memory_ns) {
  Witnesses witnesses;
  witnesses.reported = {{1, 48 << 10, false}, {2, 1 << 20, false}, {3, 32 << 20, true}};
  witnesses.least_memory_ns = least_memory_ns;
  const auto plateaus = find_plateaus(curve);
  return find_levels(curve, join_spans(plateaus, std::vector<bool>(plateaus.size() - 1, true)), witnesses);
}

TEST(Levels, before_a_rise_that_is_never_flat_are_the_last_cache) {
  for (const double least_memory_ns : {0.0, 66.0}) {
    const auto levels = levels_with_32m(filled_by_others(1e12), least_memory_ns);
    ASSERT_EQ(levels.size(), 4u);
    EXPECT_EQ(levels[2].name, "LLC");
    EXPECT_TRUE(levels[2].unseen);
    EXPECT_NEAR(levels[2].ns, 12, 0.01);
    EXPECT_EQ(levels[3].name, "memory");
    EXPECT_EQ(levels[3].ns, 0);
    EXPECT_TRUE(levels[3].because.ends_with("; extend it with --to 512M")) << levels[3].because;
  }
}

TEST(Levels, up_to_four_times_the_last_cache_are_memory) {
  const auto levels = levels_with_32m(filled_by_others(49 * mib), 66);
  EXPECT_EQ(levels.back().name, "memory");
  EXPECT_NEAR(levels.back().ns, 150, 5);
  EXPECT_EQ(levels.back().grade, result::Grade::low);
  EXPECT_TRUE(levels.back().because.starts_with("flat from 49.35 MiB to 128.0 MiB only")) << levels.back().because;
}

TEST(Levels, that_are_faster_than_memory_are_no_memory) {
  Curve curve = filled_by_others(1e12);
  for (CurvePoint& point : curve) point.ns = std::min(point.ns, 12.0);
  const auto fast = levels_with_32m(curve, 66);
  EXPECT_EQ(fast[2].name, "LLC") << "whatever its length";
  EXPECT_NEAR(fast[2].ns, 12, 0.01);
  EXPECT_EQ(fast.back().ns, 0);
  EXPECT_EQ(levels_with_32m(curve, 0).back().name, "memory");
  std::erase_if(curve, [](const CurvePoint& point) { return point.size_bytes > 10 * mib; });
  EXPECT_EQ(levels_with_32m(curve, 66)[2].name, "LLC") << "the curve ends in it";
  EXPECT_NEAR(levels_with_32m(curve, 66)[2].ns, 12, 0.01);
  EXPECT_EQ(levels_with_32m(curve, 0).back().name, "beyond");
  EXPECT_TRUE(levels_with_32m(curve, 0).back().because.ends_with("still a cache, or memory; extend it with --to 128M"))
      << levels_with_32m(curve, 0).back().because;
}

// For a sloping rise the frames of the curve are chance; a step does not depend on them.
TEST(Levels, that_slope_use_scattered_rings) {
  const Curve curve = modelled_slope();
  const auto plateaus = find_plateaus(curve);
  const auto levels_with = [&](std::vector<Capacity> scattered) {
    Witnesses witnesses;
    witnesses.reported = {{2, 1 << 20, false}, {3, 32 << 20, true}};
    witnesses.translations = {72 * 4096, 0};
    witnesses.scattered = std::move(scattered);
    return find_levels(curve, join_spans(plateaus, std::vector<bool>(plateaus.size() - 1, true)), witnesses);
  };
  const auto usual = levels_with({});
  const auto found =
      levels_with({{4 * mib, 3 * mib, 5 * mib}, {1.1 * mib, 1.05 * mib, 1.15 * mib}, {0.9 * mib, 0, mib}});
  EXPECT_EQ(found[0].shape, "page colours");
  EXPECT_EQ(found[0].capacity_bytes, 1.1 * mib) << "the first that is not far off";
  EXPECT_EQ(found[0].capacity_low, 1.05 * mib);
  EXPECT_EQ(found[0].capacity_high, 1.15 * mib);
  EXPECT_EQ(found[0].half_bytes, usual[0].half_bytes);
  EXPECT_TRUE(found[0].because.starts_with("measured with scattered lines; the curve agrees: ")) << found[0].because;
  EXPECT_EQ(found[0].grade, result::Grade::high);
  const auto other = levels_with({{1.3 * mib, 1.25 * mib, 1.35 * mib}});
  EXPECT_NE(other[0].because.find("measured with scattered lines; the curve shows "), std::string::npos)
      << other[0].because;
  EXPECT_EQ(other[0].grade, result::Grade::low);
  EXPECT_NE(other[0].because.find("larger than the reported cache"), std::string::npos) << other[0].because;
  EXPECT_FALSE(other[0].effective) << "one thread cannot use more than the cache";
  EXPECT_EQ(found[1].shape, usual[1].shape);
  EXPECT_EQ(found[1].capacity_bytes, usual[1].capacity_bytes) << "a step is one";
}

// The points of the first level are removed, so the curve begins with the second one.
TEST(Levels, with_disturbed_plateau_are_reported) {
  Random random(1);
  Curve curve = machine(random);
  flag(curve, 0, 47 * kib);
  const auto levels = levels_of(curve, {false, true, true});
  ASSERT_EQ(levels.size(), 4u);
  EXPECT_EQ(levels[0].name, "L1d");
  EXPECT_TRUE(levels[0].unseen);
  EXPECT_NE(levels[0].because.find(" sizes around it disturbed"), std::string::npos) << levels[0].because;
  EXPECT_EQ(levels[1].name, "L2");
  EXPECT_NEAR(levels[1].ns, 4, 0.08);
}

// Others use the processor half of the time: only rings that fit whole laps between two time slices are used.
Curve shared_machine(Random& random, double believed) {
  Curve curve = machine(random);
  for (CurvePoint& point : curve) {
    if (point.size_bytes <= believed) continue;
    point.flagged = true;
    point.why = processor_shared;
    point.ns *= static_cast<double>(random.uniform(1, 9));
  }
  return curve;
}

Witnesses half_waited() {
  Witnesses witnesses = known();
  witnesses.waited_share = 0.5;
  return witnesses;
}

TEST(SharedLevels, private_are_measured_and_shared_are_contended) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Curve curve = shared_machine(random, 5 * mib);
    const auto levels = find_levels(curve, join_spans(find_plateaus(curve), {true, false, true}), half_waited());
    ASSERT_EQ(levels.size(), 4u) << seed;
    EXPECT_TRUE(levels[0].snapped);
    EXPECT_EQ(levels[0].grade, result::Grade::medium) << "never high then";
    EXPECT_TRUE(levels[0].because.starts_with("the processor was shared (50 % of the time)")) << levels[0].because;
    EXPECT_EQ(levels[1].name, "L2");
    EXPECT_TRUE(levels[1].snapped);
    EXPECT_LE(*levels[1].capacity_low, 2 * mib) << seed;
    EXPECT_GE(*levels[1].capacity_high, 2 * mib) << seed;
    EXPECT_EQ(levels[1].grade, result::Grade::low) << "nothing else says the same";
    EXPECT_EQ(levels[2].name, "LLC");
    EXPECT_TRUE(levels[2].contended);
    EXPECT_FALSE(levels[2].capacity_bytes);
    EXPECT_EQ(levels[3].name, "memory");
    EXPECT_TRUE(levels[3].contended);
    EXPECT_EQ(levels[3].ns, 0);
    const LevelsVerdict verdict = judge_levels(curve, levels, 0.5);
    EXPECT_TRUE(verdict.contended);
    EXPECT_EQ(verdict.why,
              "the processor was shared, 50 % of the time was spent waiting for it: LLC, memory; measured: L1d, L2");
  }
}

TEST(SharedLevels, with_unreliable_end_have_only_a_latency) {
  Random random(1);
  const Curve curve = shared_machine(random, 1.5 * mib);
  const auto levels = find_levels(curve, join_spans(find_plateaus(curve), {true, false}), half_waited());
  ASSERT_EQ(levels.size(), 4u);
  EXPECT_TRUE(levels[0].snapped);
  EXPECT_EQ(levels[1].name, "L2");
  EXPECT_TRUE(levels[1].contended) << "and not merely unseen";
  EXPECT_FALSE(levels[1].capacity_bytes);
  EXPECT_NEAR(levels[1].ns, 4, 0.08);
  EXPECT_TRUE(levels[2].contended);
  EXPECT_TRUE(levels[3].contended);
}

// The calm rise after the last plateau is longer than the disturbed part after it.
TEST(SharedLevels, after_a_calm_rise_are_contended) {
  Random random(1);
  Curve curve = machine(random);
  for (CurvePoint& point : curve) {
    if (point.size_bytes > 2 * mib) point.ns = 4 * point.size_bytes / mib;
  }
  flag(curve, 130 * mib, 256 * mib);
  const auto levels = find_levels(curve, join_spans(find_plateaus(curve), {true, false}), half_waited());
  ASSERT_EQ(levels.size(), 4u);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(levels[i].contended) << i;
  EXPECT_TRUE(levels[1].because.starts_with("contended: 8 of 8 sizes from ")) << levels[1].because;
  result::MemoryLevel unseen;
  unseen.name = "LLC";
  unseen.unseen = true;
  EXPECT_EQ(judge_levels(curve, {levels[0], unseen, levels[3]}, 0.5).why,
            "the processor was shared, 50 % of the time was spent waiting for it: memory; measured: L1d");
  EXPECT_EQ(judge_levels(curve, {unseen}, 0.5).why,
            "the processor was shared, 50 % of the time was spent waiting for it: no capacities reported");
  flag(curve, 1, 256 * mib);
  EXPECT_TRUE(judge_levels(curve, {unseen}, 0.5)
                  .why.starts_with("the processor was shared, 50 % of the time was spent waiting for it: "));
}

TEST(SharedLevels, make_a_contended_report_even_if_calm) {
  Random random(1);
  const Curve curve = machine(random);
  const auto levels = levels_of(curve, {true, false, true, true});
  EXPECT_FALSE(judge_levels(curve, levels, 0.3).contended);
  const LevelsVerdict verdict = judge_levels(curve, levels, 0.4);
  EXPECT_TRUE(verdict.contended);
  EXPECT_EQ(verdict.why,
            "the processor was shared, 40 % of the time was spent waiting for it; measured: L1d, L2, LLC, memory");
}

}  // namespace
}  // namespace tally::memory
