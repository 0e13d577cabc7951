#include "tally/tools/roofline/make_roofline.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tally/output/analysis/roofline.hpp"
#include "tally/tools/roofline/host_ceilings.hpp"

namespace tally::roofline {
namespace {

using result::Ceilings;
using result::Roofline;
using result::RooflinePoint;
using result::Stat;

// One processor: L1 200, L2 100, DRAM 20 GB/s, scalar 10, widest 40 GFLOP/s (double), twice that in single precision.
// Two: all doubled, but DRAM 30.
Ceilings ceilings() {
  return {.date = "2026-11-29",
          .bandwidths = {{"L1", 0, 1, 200e9, 1},
                         {"L2", 0, 1, 100e9, 1},
                         {"DRAM", 0, 1, 20e9, 5},
                         {"L1", 0, 2, 400e9, 1},
                         {"L2", 0, 2, 200e9, 1},
                         {"DRAM", 0, 2, 30e9, 5}},
          .peaks = {{"single", 0, 1, 10e9, 1},
                    {"single", 256, 1, 80e9, 1},
                    {"double", 0, 1, 10e9, 1},
                    {"double", 256, 1, 40e9, 1},
                    {"single", 256, 2, 160e9, 1},
                    {"double", 256, 2, 80e9, 1}}};
}

RooflinePoint point(std::int64_t operations, std::int64_t bytes, std::int64_t from_memory) {
  return {.kind = "program",
          .name = "prog",
          .operations = operations,
          .bytes = bytes,
          .levels = {{"L2", from_memory}, {"DRAM", from_memory}},
          .seconds = 1};
}

Roofline roofline(double busy = 1) { return {.ceilings = ceilings(), .busy_processors = busy}; }

TEST(Roofline, the_limit_needs_the_longest_time) {
  const auto memory = output::judge(roofline(), point(1'000'000'000, 12'000'000'000, 16'000'000'000));
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->limit, "DRAM");
  EXPECT_NEAR(memory->percent, 80, 1e-9);
  EXPECT_NEAR(*memory->intensity, 1.0 / 12, 1e-9);
  const auto caches = output::judge(roofline(), point(1'000'000'000, 180'000'000'000, 1'000'000));
  EXPECT_EQ(caches->limit, "L1");
  EXPECT_NEAR(caches->percent, 90, 1e-9);
  const auto compute = output::judge(roofline(), point(38'000'000'000, 1000, 0));
  EXPECT_EQ(output::limit_text(*compute), "the peak of floating-point operations");
  EXPECT_NEAR(compute->percent, 95, 1e-9);
}

TEST(Roofline, precisions_have_peaks_of_their_own) {
  RooflinePoint mixed = point(60'000'000'000, 0, 0);
  mixed.single = 40'000'000'000;  // half a second, as the others
  const auto verdict = output::judge(roofline(), mixed);
  EXPECT_NEAR(verdict->percent, 100, 1e-9);
  EXPECT_NEAR(verdict->limit_per_second, 60e9, 1);
  EXPECT_FALSE(verdict->intensity);
}

TEST(Roofline, half_bf16_and_x87_have_peaks_if_they_were_measured) {
  Roofline measured = roofline();
  measured.ceilings.peaks.push_back({"bf16", 512, 1, 160e9, 1});
  measured.ceilings.peaks.push_back({"x87", 0, 1, 4e9, 1});
  RooflinePoint products = point(120'000'000'000, 0, 0);
  products.bf16 = products.operations;
  EXPECT_EQ(output::main_precision(products), "bf16");
  EXPECT_NEAR(output::judge(measured, products)->percent, 75, 1e-9);
  EXPECT_NEAR(output::judge(roofline(), products)->percent, 300, 1e-9) << "of the peak of double precision";
  RooflinePoint x87 = point(1'000'000'000, 0, 0);
  x87.x87 = x87.operations;
  EXPECT_NEAR(output::judge(measured, x87)->limit_per_second, 4e9, 1);
  EXPECT_TRUE(output::verdict_text(measured, x87).find("those of x87, and the peak of double precision is 10 times") !=
              std::string::npos)
      << output::verdict_text(measured, x87);
  Roofline unmeasured = roofline();
  unmeasured.points.push_back(x87);
  EXPECT_EQ(output::roofline_notes(unmeasured).back(),
            "`tally memory ceilings` measured no peak of x87 (100 % of the operations): they are compared with that of "
            "double precision");
  measured.points.push_back(x87);
  EXPECT_EQ(output::roofline_notes(measured).size() + 1, output::roofline_notes(unmeasured).size());
}

TEST(Roofline, ceilings_are_those_of_the_busy_processors) {
  const auto bandwidths = ceilings().bandwidths;
  EXPECT_EQ(output::processors_of(roofline(0.4)), 1);
  EXPECT_EQ(output::processors_of(roofline(1.05)), 1);
  EXPECT_EQ(output::processors_of(roofline(1.9)), 2);
  EXPECT_EQ(output::ceiling(bandwidths, "DRAM", 0, 1), 20e9);
  EXPECT_EQ(output::ceiling(bandwidths, "DRAM", 0, 2), 30e9);
  EXPECT_EQ(output::ceiling(bandwidths, "L3", 0, 2), 0);
  // Two of sixteen processors may use all of the memory's bandwidth, and two of sixteen peaks.
  const std::vector<result::Ceiling> many{
      {"DRAM", 0, 1, 20e9, 0}, {"DRAM", 0, 16, 30e9, 0}, {"L1", 0, 1, 1e11, 0}, {"L1", 0, 16, 16e11, 0}};
  EXPECT_EQ(output::ceiling(many, "DRAM", 0, 2), 30e9);
  EXPECT_EQ(output::ceiling(many, "L1", 0, 2), 2e11);
}

TEST(Roofline, sentences_say_what_limits) {
  RooflinePoint scalar = point(9'000'000'000, 1'000'000'000, 0);
  scalar.scalar = scalar.operations;
  EXPECT_EQ(output::verdict_text(roofline(), scalar),
            "program prog reaches 22 % of what its intensity allows; the limit is the peak of floating-point "
            "operations; its operations are scalar, and it reaches 90 % of the scalar peak");
  EXPECT_EQ(output::verdict_text(roofline(), point(0, 1'000'000'000, 19'000'000'000)),
            "program prog reaches 95 % of what the memory allows; the limit is DRAM bandwidth; it computes no "
            "floating-point operations");
  EXPECT_TRUE(output::verdict_text(roofline(), point(0, 1000, 1'000'000'000)).find("no ceiling is near") !=
              std::string::npos);
  RooflinePoint brief = point(0, 1000, 1'000'000);
  brief.seconds = 0.03;
  EXPECT_TRUE(output::verdict_text(roofline(), brief).find("it waits for latencies") != std::string::npos);
  brief.seconds = 0.002;
  EXPECT_TRUE(output::verdict_text(roofline(), brief).find("a part of so short a run is the start") !=
              std::string::npos);
  RooflinePoint faults = point(0, 1000, 1'000'000'000);
  faults.kernel_share = 0.6;
  EXPECT_TRUE(output::verdict_text(roofline(), faults).find("; 60 % of its processor time is the kernel's") !=
              std::string::npos);
  RooflinePoint none = point(1, 1, 1);
  none.seconds.reset();
  none.reason = "no time";
  EXPECT_EQ(output::verdict_text(roofline(), none), "program prog has no point: no time");
}

result::Event event(const char* name, std::int64_t value, Trust trust = Trust::exact) {
  result::Event row;
  row.total.event = name;
  row.total.name.base = name;
  row.total.count.value = value;
  row.total.count.trust = trust;
  return row;
}

result::Stat counted() {
  result::Stat stat;
  stat.command = {"prog"};
  stat.events = {event("fp-operations", 100),
                 event("fp-operations-single", 10),
                 event("fp-operations-scalar", 90),
                 event("load-bytes", 4000),
                 event("store-bytes", 800),
                 event("L1-dcache-load-misses", 5, Trust::modelled),
                 event("L1-dcache-store-misses", 3, Trust::modelled),
                 event("L2-misses", 4, Trust::modelled),
                 event("cache-misses", 2, Trust::modelled),
                 event("duration_time", 2'000'000'000),
                 event("user_time", 2'900'000'000),
                 event("system_time", 100'000'000)};
  return stat;
}

TEST(Roofline, levels_deliver_the_lines_that_the_ones_before_missed) {
  const result::Stat stat = counted();
  const auto time = native_time(stat);
  ASSERT_TRUE(time);
  EXPECT_EQ(time->seconds, 2);
  EXPECT_NEAR(time->busy_processors, 1.5, 1e-9);
  const Roofline made = program_roofline(stat, time, ceilings());
  const RooflinePoint& program = made.points.front();
  EXPECT_EQ(program.operations, 100);
  EXPECT_EQ(program.single, 10);
  EXPECT_EQ(program.bytes, 4800);
  EXPECT_EQ(program.trust, Trust::exact);
  // Without a third level, memory serves what the last level of the model missed.
  EXPECT_EQ(program.levels, (std::vector<result::LevelBytes>{{"L2", 8 * 64}, {"DRAM", 2 * 64}}));
  EXPECT_FALSE(program_roofline(stat, std::nullopt, ceilings()).points.front().seconds);
  result::Stat absent = stat;
  absent.events[0].total.count.value.reset();
  EXPECT_FALSE(program_roofline(absent, time, ceilings()).points.front().seconds) << "absent is not 0";
}

result::Profile profile_of(result::Stat stat, std::vector<std::vector<std::int64_t>> counts) {
  result::Profile profile;
  profile.stat = std::move(stat);
  profile.owners.resize(1);
  profile.sources.resize(1);
  profile.objects.resize(1);
  profile.objects[0].name = "/bin/prog";
  for (std::uint32_t i = 0; i < counts.size(); ++i) {
    result::ProfileFunction function;
    function.name = i == 0 ? "hot" : "cold";
    profile.functions.push_back(function);
    result::ProfileRow row;
    row.function = i;
    profile.rows.push_back(row);
    profile.counts.insert(profile.counts.end(), counts[i].begin(), counts[i].end());
  }
  profile.repeated.resize(profile.event_count());
  profile.unplaced.resize(profile.event_count());
  return profile;
}

TEST(Roofline, functions_have_the_time_of_their_samples) {
  const result::Stat stat = counted();
  const result::Profile exact =
      profile_of(stat, {{60, 0, 60, 3000, 500, 3, 2, 3, 1, 0, 0, 0}, {40, 10, 30, 1000, 300, 2, 1, 1, 1, 0, 0, 0}});
  result::Stat clock;
  clock.events = {event("cpu-clock", 2'000'000'000, Trust::sampled)};
  result::Profile sampled = profile_of(clock, {{1'950'000'000}, {50'000'000}});
  sampled.sampling.resize(1);
  sampled.sampling[0].frequency = 1000;
  sampled.sampling[0].effective = 2000;
  sampled.samples = {1950, 49};
  Roofline made = program_roofline(stat, NativeTime{2, 1.5}, ceilings());
  add_functions(made, exact, sampled);
  ASSERT_EQ(made.points.size(), 3U);
  const RooflinePoint& hot = made.points[1];
  EXPECT_EQ(hot.name, "hot");
  EXPECT_EQ(hot.operations, 60);
  EXPECT_EQ(hot.bytes, 3500);
  // Its share of the program's 2 s, whatever the sampled run took.
  EXPECT_NEAR(*hot.seconds, 1.95, 1e-9);
  EXPECT_LT(*hot.seconds_low, 1.95);
  EXPECT_GT(*hot.seconds_high, 1.95);
  EXPECT_FALSE(made.points[2].seconds) << "49 samples are too few";
  EXPECT_NE(made.points[2].reason.find("49 samples"), std::string::npos);

  sampled.sampling[0].user_only = true;
  Roofline user = program_roofline(stat, NativeTime{2, 1.5, 0.25}, ceilings());
  add_functions(user, exact, sampled);
  EXPECT_NEAR(*user.points[1].seconds, 0.75 * 1.95, 1e-9) << "a quarter is the kernel's, which has no samples";
}

result::ProgramRegions region_of(const std::vector<std::pair<const char*, std::int64_t>>& events) {
  RegionCounts counts;
  counts.entries = 2;
  for (const auto& [event, value] : events)
    counts.events.push_back({{event, Mode::user}, exact(value, Source::engine), {}, {}, 0, 0, 0, false, {}});
  return {.pid = 1, .command = {"prog"}, .reason = "", .regions = {{"hot", counts, {{7, counts}}}}};
}

Stat of_runs(const std::vector<std::vector<result::ProgramRegions>>& regions) {
  Stat stat;
  for (const auto& programs : regions) {
    stat.runs.emplace_back();
    stat.runs.back().regions = programs;
  }
  return stat;
}

TEST(Roofline, notes_that_the_ceilings_are_those_of_a_busy_machine) {
  const auto is_noted = [](double rejected_percent) {
    Roofline made = roofline();
    made.ceilings.rejected_percent = rejected_percent;
    const auto notes = output::roofline_notes(made);
    return std::any_of(notes.begin(), notes.end(),
                       [](const std::string& note) { return note.find("the machine was busy") != std::string::npos; });
  };
  EXPECT_TRUE(is_noted(37));
  EXPECT_FALSE(is_noted(2));
}

// Two operations of each nanosecond in the thread that was longest in the region.
TEST(Roofline, regions_have_rates_by_the_time_of_a_native_run) {
  const auto rate = parse_metrics({"R=fp-operations / duration_time"});
  ASSERT_TRUE(rate);
  Stat stat = of_runs({{region_of({{"fp-operations", 3'000'000}})}, {region_of({{"fp-operations", 6'000'000}})}});
  result::ProgramRegions native = region_of({{"task-clock", 500'000}});
  native.regions[0].threads.push_back(region_of({{"task-clock", 1'500'000}}).regions[0].threads[0]);
  stat.runs[0].regions[0].regions[0].all.metrics.resize(1);
  stat.runs[0].regions[0].regions[0].all.metrics[0].formula = "fp-operations:u / duration_time";
  EXPECT_TRUE(need_times(stat.runs[0].regions));
  add_native(stat, of_runs({{native}, {native}}).runs, *rate);
  for (const std::size_t run : {0U, 1U}) {
    const RegionCounts& region = stat.runs[run].regions[0].regions[0].all;
    EXPECT_EQ(region.events.size(), 1U);
    ASSERT_EQ(region.metrics.at(0).name, "R");
    ASSERT_TRUE(region.metrics[0].ratio.value) << "run " << run;
    EXPECT_NEAR(*region.metrics[0].ratio.value, run == 0 ? 2 : 4, 1e-9);
  }
}

// hot calls cold, which main calls, too: 3 of 4 of its instructions are those of hot's calls.
TEST(Roofline, functions_have_the_time_of_what_they_call) {
  result::Stat instructions;
  instructions.events = {event("instructions", 1000)};
  result::Profile calls = profile_of(instructions, {{500}, {400}, {100}});
  calls.functions[2].name = "main";
  result::ProfileCall hot, inside, outside;
  hot.caller = outside.caller = 2;
  inside.caller = hot.callee = 0;
  inside.callee = outside.callee = 1;
  hot.parent = outside.parent = result::CodeCall::no_parent;
  inside.parent = 0;
  calls.calls = {hot, inside, outside};
  calls.self = {500, 300, 100};
  calls.inclusive = {800, 300, 100};
  result::Stat clock;
  clock.events = {event("cpu-clock", 1'000'000'000, Trust::sampled)};
  result::Profile sampled = profile_of(clock, {{500'000'000}, {400'000'000}, {100'000'000}});
  sampled.functions[2].name = "main";
  sampled.sampling.resize(1);
  sampled.sampling[0].frequency = 1000;
  sampled.sampling[0].effective = 1000;
  sampled.samples = {500, 400, 100};
  const auto made = [&](const char* name, const Result<result::Profile>& counts) {
    Roofline roofline = program_roofline(counted(), NativeTime{2, 1}, ceilings());
    roofline.points.push_back(point(60, 1000, 0));
    roofline.points.back().kind = "region";
    roofline.points.back().name = name;
    roofline.points.back().seconds.reset();
    add_function_times(roofline, {name}, counts, sampled);
    return roofline.points.back();
  };
  const RooflinePoint point = made("hot", calls);
  EXPECT_EQ(point.kind, "function");
  EXPECT_NEAR(point.seconds.value_or(0), 2 * 0.8, 1e-9);
  EXPECT_LT(point.seconds_low.value_or(9), 2 * 0.5) << "its own time alone is certain";
  EXPECT_GT(point.seconds_high.value_or(0), 2 * 0.9) << "all of cold's may be that of its calls";
  EXPECT_NEAR(made("main", calls).seconds.value_or(0), 2, 1e-9);
  EXPECT_EQ(made("col", calls).reason, "no function of this name is in a profile");
  EXPECT_EQ(made("hot", fail(Code::cannot_measure, "no room")).reason, "no room");
  calls.calls_cut = true;
  EXPECT_FALSE(made("hot", calls).seconds);
  calls.calls_cut = false;
  calls.functions[0].name = "hot(long)";
  calls.functions[1].name = "hot(int)";
  EXPECT_EQ(made("hot", calls).reason, "2 functions have this name: give one in full");
  calls.functions[0].name = "hot";
  calls.functions[1].name = "cold";
  sampled.functions[1].name = "cold_avx512";
  EXPECT_NEAR(made("main", calls).seconds.value_or(0), 2 * 0.6, 1e-9);
  EXPECT_GT(made("main", calls).seconds_high.value_or(0), 1.9) << "the counted run may have executed another function";
  sampled.samples = {20, 20, 29};
  EXPECT_NE(made("main", calls).reason.find("49 samples"), std::string::npos);
}

// A process that has only regions of functions is not among the native ones.
TEST(Roofline, regions_have_no_rate_by_the_time_of_another_process) {
  const auto rate = parse_metrics({"R=fp-operations / duration_time"});
  ASSERT_TRUE(rate);
  const auto rates = [&](std::vector<result::ProgramRegions> counted, std::vector<result::ProgramRegions> native) {
    Stat stat = of_runs({std::move(counted)});
    add_native(stat, of_runs({std::move(native)}).runs, *rate);
    std::vector<double> values;
    for (const result::ProgramRegions& program : stat.runs[0].regions) {
      const auto& metrics = program.regions[0].all.metrics;
      values.push_back(metrics.empty() ? 0 : metrics[0].ratio.value.value_or(0));
    }
    return values;
  };
  const auto hot = region_of({{"fp-operations", 3'000'000}}), time = region_of({{"task-clock", 1'500'000}});
  result::ProgramRegions function = hot, unused = hot, other = time, ranked = time;
  function.regions[0].name = "prepare";
  unused.regions[0].all.entries = 0;
  other.command = {"other"};
  ranked.rank = 1;
  EXPECT_EQ(rates({function, hot}, {time}), (std::vector<double>{0, 2})) << "not the first with the first";
  EXPECT_EQ(rates({unused, hot}, {time}), (std::vector<double>{0, 2}));
  EXPECT_EQ(rates({hot, hot}, {time, time}), (std::vector<double>{0, 0})) << "their numbers differ in another run";
  EXPECT_EQ(rates({hot, hot}, {time}), (std::vector<double>{0, 0}));
  EXPECT_EQ(rates({hot}, {time, time}), (std::vector<double>{0}));
  EXPECT_EQ(rates({hot}, {other, ranked}), (std::vector<double>{0}));
  EXPECT_EQ(rates({hot}, {other, time, ranked}), (std::vector<double>{2}));
  EXPECT_EQ(rates({hot}, {}), (std::vector<double>{0}));
}

TEST(Roofline, regions_have_the_time_of_their_longest_thread) {
  const auto points = [](const std::vector<result::ProgramRegions>& programs,
                         const std::vector<result::ProgramRegions>& native) {
    Stat stat = of_runs({programs});
    stat.roofline = program_roofline(counted(), NativeTime{2, 1}, ceilings());
    add_native(stat, of_runs({native}).runs, {});
    return *stat.roofline;
  };
  const result::ProgramRegions operations =
      region_of({{"load-bytes", 800}, {"store-bytes", 200}, {"fp-operations", 60}});
  result::ProgramRegions native = region_of({{"task-clock", 500'000'000}});
  native.regions[0].threads.push_back(region_of({{"task-clock", 1'500'000'000}}).regions[0].threads[0]);
  const Roofline made = points({operations}, {native});
  ASSERT_EQ(made.points.size(), 2U);
  EXPECT_EQ(made.points[1].kind, "region");
  EXPECT_EQ(made.points[1].name, "hot");
  EXPECT_EQ(made.points[1].operations, 60);
  EXPECT_NEAR(*made.points[1].seconds, 1.5, 1e-9);
  ASSERT_EQ(made.notes.size(), 1U);
  EXPECT_TRUE(made.notes[0].starts_with("the longest of the 2 threads of region hot was in it 1.50 times as long"));
  EXPECT_TRUE(made.points[1].levels.empty()) << "regions have no counts of the levels";
  EXPECT_EQ(made.points[1].bytes, 1000);
  EXPECT_EQ(made.points[1].trust, Trust::exact);

  const Roofline without = points({operations}, {});
  EXPECT_FALSE(without.points[1].seconds);
  EXPECT_NE(without.points[1].reason.find("native time"), std::string::npos);

  const Roofline several = points({operations, operations}, {native, native});
  EXPECT_EQ(several.points[1].operations, 120);
  EXPECT_FALSE(several.points[1].seconds) << "the processes may have run one after the other";
  EXPECT_FALSE(points({operations, operations}, {native}).points[1].seconds) << "the time of another of them";

  const Roofline with_memory = points(
      {region_of({{"load-bytes", 800}, {"store-bytes", 200}, {"fp-operations", 60}, {"cache-misses", 5}})}, {native});
  EXPECT_EQ(with_memory.points[1].levels, (std::vector<result::LevelBytes>{{"DRAM", 320}}));

  const Roofline absent = points({region_of({{"fp-operations", 60}})}, {native});
  EXPECT_EQ(absent.points[1].reason, "its operations or bytes were not counted");
}

}  // namespace
}  // namespace tally::roofline
