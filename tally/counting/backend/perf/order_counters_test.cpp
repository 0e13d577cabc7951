#include "tally/counting/backend/perf/order_counters.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "tally/linux/process/spawn.hpp"

namespace tally::backend::perf {
namespace {

// The wording for each refusal of the kernel (docs/guides/doctor.md).
TEST(Counters, report_why_the_kernel_refuses) {
  const auto reason = [](int why, const char* event = "instructions") {
    return why_refused(why, event::parse_lists({event})->front());
  };
  EXPECT_EQ(reason(ENOENT), "this PMU has no such event");
  EXPECT_EQ(reason(EINVAL, "{instructions,cycles}"), "the PMU cannot count it together with the others of its group");
  EXPECT_EQ(reason(EINVAL).find("the kernel does not accept it"), 0u);
  EXPECT_EQ(reason(EACCES).find("the kernel refuses to count it: "), 0u);
  EXPECT_EQ(reason(EPERM, "instructions:k").find("the kernel refuses to count in kernel mode: "), 0u);
  EXPECT_EQ(reason(EMFILE).find("each counter is a file"), 0u);
  EXPECT_EQ(reason(ENFILE).find("the whole system may open no more files"), 0u);
  EXPECT_EQ(reason(ESRCH), "the thread had ended");
  for (const int other : {EBADF, EBUSY, ENODEV, EOPNOTSUPP, E2BIG}) {
    EXPECT_EQ(reason(other).find("the kernel refuses to count it: "), 0u) << other;
  }
  EXPECT_EQ(why_unreadable(ECHILD), "its group changed while something that had inherited it was counted");
  EXPECT_EQ(why_unreadable(EIO), "its counter cannot be read");
}

// A group whose first event is the kernel's own, followed by two events on each of two PMUs.
TEST(Counters, a_group_has_a_leader_on_each_pmu_and_the_kernels_events_join_any) {
  std::vector<GroupRead> reads{{.group = 1, .places = {0}}};
  EXPECT_EQ(leader_for(reads, 1, "cpu_core"), &reads[0]) << "no PMU has it yet";
  EXPECT_EQ(leader_for(reads, 2, ""), nullptr) << "another group";
  reads[0].pmu = "cpu_core";
  EXPECT_EQ(leader_for(reads, 1, "cpu_atom"), nullptr);
  reads.push_back({.group = 1, .pmu = "cpu_atom", .places = {2}});
  EXPECT_EQ(leader_for(reads, 1, "cpu_core"), &reads[0]);
  EXPECT_EQ(leader_for(reads, 1, "cpu_atom"), &reads[1]);
  EXPECT_EQ(leader_for(reads, 1, ""), &reads[0]);
  reads[0].group = reads[1].group = 0;
  EXPECT_EQ(leader_for(reads, 0, "cpu_core"), nullptr) << "an event outside of braces has no group";
}

TEST(Counters, a_group_is_read_as_one_and_each_event_has_its_own_number) {
  Counters counters(*event::parse_lists({"task-clock,{page-faults,context-switches},cpu-clock"}), {});
  counters.open({0, -1, true, linux::PerfStart::at_once});
  if (counters.first_errno() != 0) GTEST_SKIP() << "the kernel refuses perf_event_open here";
  const std::vector<Count> before = counters.read();
  const std::vector<char> pages(std::size_t{64} * 4096, 'x');
  EXPECT_EQ(pages.back(), 'x');
  const std::vector<Count> after = counters.read();
  EXPECT_GE(*after[1].value, *before[1].value + 16) << "pages of up to 16 KiB";
  EXPECT_LT(*after[2].value - *before[2].value, 16) << "another event's";
  EXPECT_GT(*after[0].value, *before[0].value);
  EXPECT_EQ(after[1].reading->time_enabled, after[2].reading->time_enabled) << "read at the same time";
  EXPECT_NE(after[0].reading->time_enabled, after[1].reading->time_enabled);
}

TEST(Counters, another_counts_the_same_events_on_other_targets) {
  const Counters none(*event::parse_lists({"page-faults,duration_time"}), {});
  EXPECT_EQ(none.nothing()[0].value, 0);
  EXPECT_FALSE(none.nothing()[1].value);
  Counters counters = none.another();
  EXPECT_EQ(counters.targets(), 0u);
  counters.open({});
  if (counters.first_errno() != 0) GTEST_SKIP() << "the kernel refuses perf_event_open here";
  EXPECT_EQ(counters.read()[0].trust, Trust::counted);
}

TEST(Counters, a_thread_that_has_ended_adds_nothing) {
  Counters counters(*event::parse_lists({"page-faults"}), {});
  counters.open({});
  if (counters.first_errno() != 0) GTEST_SKIP() << "the kernel refuses perf_event_open here";
  counters.open({.thread = 2147483647});
  EXPECT_EQ(counters.read()[0].trust, Trust::counted);
  EXPECT_EQ(counters.of({1})[0].reason, "the thread had ended");
}

// The kernel's time of a counter does not advance from the moment when its processor goes offline.
TEST(Counters, of_a_processor_that_went_offline_are_partial) {
  using std::chrono::milliseconds;
  EXPECT_EQ(why_ended(1, milliseconds(12'000), milliseconds(12'000)), "");
  EXPECT_EQ(why_ended(1, milliseconds(11'900), milliseconds(12'000)), "") << "the clocks differ a little";
  EXPECT_EQ(why_ended(1, milliseconds(12'010), milliseconds(12'000)), "");
  EXPECT_EQ(why_ended(1, milliseconds(3'000), milliseconds(12'000)),
            "processor 1 went offline after 3.000 s and is not counted from then on");
}

TEST(Counters, of_a_processor_that_stays_online_are_counted) {
  Counters counters(*event::parse_lists({"task-clock"}), {});
  counters.open({.thread = -1, .processor = 0, .start = linux::PerfStart::when_enabled});
  if (counters.first_errno() != 0) GTEST_SKIP() << "the kernel refuses perf_event_open here";
  for (int i = 0; i < 2; ++i) {
    counters.enable();
    const Nanoseconds start = linux::now();
    while (linux::now() - start < std::chrono::milliseconds(30)) EXPECT_EQ(counters.read()[0].trust, Trust::counted);
    counters.disable();
    EXPECT_EQ(counters.read()[0].trust, Trust::counted) << counters.read()[0].reason;
  }
}

// A PMU of the machine, played by the kernel's clock of processors, which counts nanoseconds on each.
event::Event machine_event(std::vector<event::MachineCounter> counters) {
  event::Event event = *event::parse("task-clock");
  event.id = event::Id::code;
  event.asked = event.label = "power/energy-pkg/";
  event.encoding = event::Encoding{.pmu = "power", .type = 1, .machine = std::move(counters)};
  event.encoding->scale = 1000;
  event.encoding->unit = Unit::nanojoules;
  return event;
}

TEST(MachineCounters, are_encoded_without_modes_for_each_processor) {
  const std::vector<Encoded> all = encode(machine_event({{1, 0}, {1, 3}}), {});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].event, (linux::PerfEvent{1, 0, false, false}));
  EXPECT_EQ(all[1].processor, 3);
  EXPECT_EQ(all[1].source, CountSource::pmu("power"));
}

TEST(MachineCounters, of_a_program_are_those_of_the_machine_and_say_so) {
  Counters counters({machine_event({{1, 0}})}, {});
  counters.open({getpid(), -1, true, linux::PerfStart::at_exec});
  counters.open({getpid(), -1, true, linux::PerfStart::at_exec});
  if (counters.first_errno() != 0) GTEST_SKIP() << "the kernel refuses to count processors here";
  const Nanoseconds start = linux::now();
  while (linux::now() - start < std::chrono::milliseconds(20)) continue;
  const Count count = counters.read()[0];
  EXPECT_EQ(counters.size(), 1u) << "once for all threads";
  EXPECT_EQ(count.trust, Trust::partial);
  EXPECT_EQ(count.reason, "of the whole machine while the program ran: power does not count programs");
  EXPECT_GE(*count.value, std::int64_t{20'000'000} * 1000) << "in the event's unit";
  EXPECT_LT(*count.value, std::int64_t{20'000'000} * 1000 * 100);
}

TEST(MachineCounters, of_processors_are_opened_where_the_pmu_counts) {
  Counters counters({machine_event({{1, 0}})}, {});
  for (const int processor : {0, 1})
    counters.open({.thread = -1, .processor = processor, .start = linux::PerfStart::at_once});
  if (counters.first_errno() != 0) GTEST_SKIP() << "the kernel refuses to count processors here";
  EXPECT_EQ(counters.size(), 1u);
  EXPECT_EQ(counters.read()[0].trust, Trust::counted);
}

TEST(MachineCounters, report_what_the_kernel_requires) {
  EXPECT_NE(why_refused(EACCES, machine_event({{1, 0}})).find("kernel.perf_event_paranoid 0"), std::string::npos);
}

}  // namespace
}  // namespace tally::backend::perf
