#include "tally/counting/backend/software.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "tally/counting/backend/backend.hpp"

namespace tally::backend {
namespace {

linux::Usage usage() {
  linux::Usage usage;
  usage.user = Nanoseconds{1};
  usage.system = Nanoseconds{2};
  usage.minor_faults = 4;
  usage.major_faults = 8;
  usage.voluntary_switches = 16;
  usage.involuntary_switches = 32;
  usage.peak_rss_bytes = 64;
  return usage;
}

RunStatistics statistics() {
  RunStatistics statistics;
  statistics.usage = usage();
  statistics.duration = Nanoseconds{128};
  statistics.ticks = 256;
  statistics.steady_ticks = true;
  return statistics;
}

KernelCount held(const char* event, std::uint64_t value) {
  return {event::parse(event)->id, 0, linux::PerfValue{value, Nanoseconds{5}, Nanoseconds{5}}};
}

KernelCount refused(const char* event) { return {event::parse(event)->id, EACCES, std::nullopt}; }

std::optional<std::int64_t> value(const char* event) {
  return software_count(*event::parse(event), statistics()).value;
}

TEST(SoftwareCount, each_event_has_its_own_value) {
  EXPECT_EQ(value("user_time"), 1);
  EXPECT_EQ(value("system_time"), 2);
  EXPECT_EQ(value("minor-faults"), 4);
  EXPECT_EQ(value("major-faults"), 8);
  EXPECT_EQ(value("page-faults"), 12);
  EXPECT_EQ(value("voluntary-switches"), 16);
  EXPECT_EQ(value("involuntary-switches"), 32);
  EXPECT_EQ(value("context-switches"), 48);
  EXPECT_EQ(value("peak-memory"), 64);
  EXPECT_EQ(value("duration_time"), 128);
  EXPECT_EQ(value("task-clock"), 3);
  EXPECT_EQ(value("cpu-clock"), 3);
  EXPECT_EQ(value("tsc"), 256);
}

TEST(SoftwareCount, events_that_only_kernel_counters_count_are_absent_without_them) {
  for (const char* event : {"page-faults:u", "cpu-migrations", "cgroup-switches"}) {
    const Count none = software_count(*event::parse(event), statistics());
    EXPECT_EQ(none.trust, Trust::absent) << event;
    EXPECT_NE(none.reason.find("only the kernel's counters have it"), std::string::npos) << event;
    RunStatistics counted = statistics();
    counted.kernel = {held(event, 7)};
    EXPECT_EQ(software_count(*event::parse(event), counted).value, 7) << event;
  }
}

TEST(SoftwareCount, events_that_never_count_are_absent_and_not_0) {
  for (const char* event : {"dummy", "bpf-output"}) {
    const Count none = software_count(*event::parse(event), statistics());
    EXPECT_EQ(none.trust, Trust::absent) << event;
    EXPECT_NE(none.reason.find("never counts"), std::string::npos) << event;
  }
}

TEST(SoftwareCount, a_kernel_counter_has_priority_over_wait4) {
  RunStatistics both = statistics();
  both.kernel = {held("page-faults", 11), held("cpu-migrations", 0), refused("context-switches")};
  const Count faults = software_count(*event::parse("page-faults"), both);
  EXPECT_EQ(faults.value, 11);
  EXPECT_EQ(faults.source, Source::kernel);
  EXPECT_EQ(faults.trust, Trust::counted);
  EXPECT_EQ(software_count(*event::parse("cpu-migrations"), both).value, 0);
  const Count switches = software_count(*event::parse("context-switches"), both);
  EXPECT_EQ(switches.value, 48);
  EXPECT_EQ(switches.source, Source::wait4);
}

TEST(SoftwareCount, events_that_only_a_counter_counts_are_absent_if_it_is_refused) {
  RunStatistics none = statistics();
  none.kernel = {refused("cpu-migrations")};
  const Count count = software_count(*event::parse("cpu-migrations"), none);
  EXPECT_EQ(count.trust, Trust::absent);
  EXPECT_NE(count.reason.find("Permission denied"), std::string::npos);
}

TEST(SoftwareCount, a_counter_that_saw_no_execve_is_ignored) {
  RunStatistics early = statistics();
  early.kernel = {{event::Id::page_faults, 0, linux::PerfValue{}}};
  EXPECT_EQ(software_count(*event::parse("page-faults"), early).source, Source::wait4);
}

// wait4(2) reports at the end only: 0 until then would be wrong.
TEST(SoftwareCount, while_the_program_runs_only_the_kernels_counters_have_values) {
  const event::Event faults = *event::parse("page-faults");
  RunStatistics running;
  running.kernel = {{event::Id::page_faults, EACCES, {}}};
  const Count refused = software_count_so_far(faults, running);
  EXPECT_EQ(refused.trust, Trust::absent);
  EXPECT_NE(refused.reason.find("Permission denied"), std::string::npos) << refused.reason;
  running.kernel = {{event::Id::page_faults, 0, linux::PerfValue{}}};
  EXPECT_EQ(software_count_so_far(faults, running).value, 0) << "before execve(2)";
  running.kernel = {{event::Id::page_faults, 0, linux::PerfValue{7, Nanoseconds{1}, Nanoseconds{1}}}};
  EXPECT_EQ(software_count_so_far(faults, running).value, 7);
}

TEST(SoftwareCount, ticks_of_a_varying_counter_are_partial) {
  RunStatistics varying = statistics();
  varying.steady_ticks = false;
  EXPECT_EQ(software_count(*event::parse("tsc"), statistics()).trust, Trust::counted);
  EXPECT_EQ(software_count(*event::parse("tsc"), varying).trust, Trust::partial);
  varying.ticks.reset();
  EXPECT_EQ(software_count(*event::parse("tsc"), varying).trust, Trust::absent);
}

#if defined(__x86_64__)
TEST(SoftwareCount, x86_has_no_false_0_of_events_that_its_kernel_never_counts) {
  for (const char* name : {"alignment-faults", "emulation-faults"}) {
    const event::Event event = *event::parse(name);
    EXPECT_TRUE(KernelCounters({event}).read().empty());
    EXPECT_EQ(software_count(event, expected_statistics(event)).trust, Trust::absent);
  }
}
#endif

TEST(SoftwareCount, a_value_has_a_source_and_no_hardware_event_has_one) {
  for (const event::Definition& line : event::all()) {
    const Count count = software_count(*event::parse(line.name), statistics());
    EXPECT_EQ(count.source == Source::none, !count.value.has_value()) << line.name;
    EXPECT_EQ(count.reason.empty(), count.value.has_value()) << line.name;
    EXPECT_TRUE(line.kind == event::Kind::software || !count.value) << line.name;
  }
}

TEST(SoftwareCount, a_peak_below_the_floor_is_partial) {
  RunStatistics hidden = statistics();
  hidden.usage.peak_floor_bytes = 64;
  const Count count = software_count(*event::parse("peak-memory"), hidden);
  EXPECT_EQ(count.trust, Trust::partial);
  EXPECT_EQ(count.value, 64);
  EXPECT_NE(count.reason.find("64 B"), std::string::npos);
}

TEST(AllSoftware, one_hardware_event_decides) {
  EXPECT_TRUE(all_software(*event::parse_lists({"page-faults,user_time"})));
  EXPECT_FALSE(all_software(*event::parse_lists({"page-faults,loads"})));
  EXPECT_FALSE(all_software(event::default_set()));
}

TEST(EventCount, has_the_name_as_asked_and_in_full) {
  const EventCount count = event_count(*event::parse("loads"), exact(1, Source::engine));
  EXPECT_EQ(count.event, "loads");
  EXPECT_EQ(count.name.text(), "loads:u");
  EXPECT_EQ(event_count(*event::parse("peak-memory"), absent("")).unit, Unit::bytes);
}

}  // namespace
}  // namespace tally::backend
