#include "tally/counting/backend/lost_counters.hpp"

#include <gtest/gtest.h>

namespace tally::backend {
namespace {

using std::chrono::milliseconds;

linux::Usage took(Nanoseconds user, Nanoseconds system) {
  linux::Usage usage;
  usage.user = user;
  usage.system = system;
  usage.minor_faults = 30'770;
  return usage;
}

TEST(LostCounters, are_found_if_their_time_is_less_than_the_processor_time) {
  EXPECT_EQ(why_counters_were_lost(milliseconds(50), took(milliseconds(45), milliseconds(6)), "true"), "");
  EXPECT_EQ(why_counters_were_lost(milliseconds(51), took(milliseconds(45), milliseconds(5)), "true"), "");
  EXPECT_NE(why_counters_were_lost(Nanoseconds(3520), took(milliseconds(5), milliseconds(45)), "true"), "");
  EXPECT_NE(why_counters_were_lost(milliseconds(900), took(milliseconds(950), milliseconds(50)), "true"), "");
}

TEST(LostCounters, are_not_suspected_if_a_program_releases_much_memory) {
  EXPECT_EQ(why_counters_were_lost(milliseconds(62), took(milliseconds(6), milliseconds(72)), "true"), "");
}

TEST(LostCounters, are_not_suspected_in_a_short_program) {
  // The kernel's work within the execve, before the counters start.
  EXPECT_EQ(why_counters_were_lost(Nanoseconds(600'000), took(Nanoseconds(300'000), Nanoseconds(700'000)), "true"), "");
}

TEST(LostCounters, are_not_suspected_in_many_short_programs) {
  linux::Usage usage = took(Nanoseconds(11'840'000), Nanoseconds{0});
  usage.minor_faults = 360;
  EXPECT_EQ(why_counters_were_lost(Nanoseconds(6'880'000), usage, "true"), "");
  EXPECT_NE(why_counters_were_lost(Nanoseconds(5'000'000), usage, "true"), "");
}

TEST(LostCounters, are_not_suspected_in_a_program_that_sleeps_often) {
  linux::Usage usage = took(Nanoseconds(76'996'000), Nanoseconds{0});
  usage.minor_faults = 52;
  EXPECT_NE(why_counters_were_lost(Nanoseconds(70'130'000), usage, "true"), "");
  usage.voluntary_switches = 600;
  usage.involuntary_switches = 7;
  EXPECT_EQ(why_counters_were_lost(Nanoseconds(70'130'000), usage, "true"), "");
  // 20 us per switch are 12 ms: more than that is a loss.
  EXPECT_NE(why_counters_were_lost(Nanoseconds(58'000'000), usage, "true"), "");
}

TEST(LostCounters, are_replaced_by_the_values_of_wait4) {
  RunStatistics statistics;
  statistics.usage = took(milliseconds(5), milliseconds(45));
  statistics.lost = "the kernel took the counters away";
  for (const event::Id id : {event::Id::task_clock, event::Id::page_faults, event::Id::cpu_migrations})
    statistics.kernel.push_back({id, 0, linux::PerfValue{3, Nanoseconds(3520), Nanoseconds(3520)}});
  const Count clock = software_count(*event::parse("task-clock"), statistics);
  EXPECT_EQ(clock.value, 50'000'000);
  EXPECT_EQ(clock.trust, Trust::partial);
  EXPECT_EQ(clock.source, Source::wait4);
  EXPECT_EQ(clock.reason, statistics.lost);
  EXPECT_EQ(software_count(*event::parse("page-faults"), statistics).value, 30'770);
  const Count migrations = software_count(*event::parse("cpu-migrations"), statistics);
  EXPECT_EQ(migrations.value, 3);
  EXPECT_EQ(migrations.trust, Trust::partial);
}

}  // namespace
}  // namespace tally::backend
