#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <vector>

#include "tally/linux/files/files.hpp"
#include "tally/linux/machine/host_machine.hpp"
#include "tally/linux/perf/fault_log.hpp"
#include "tally/linux/perf/known_work.hpp"
#include "tally/linux/perf/perf_event.hpp"
#include "tally/linux/perf/refused_perf_testing.hpp"

namespace tally::linux {
namespace {

TEST(PerfGate, the_kernel_checks_flags_before_permissions) {
  if (value_of(content("/proc/self/status"), "Seccomp") != "0")
    GTEST_SKIP() << "a filter of system calls may answer here";
  if (!read_host_machine().perf_event_paranoid) GTEST_SKIP() << "this kernel has no perf";
  EXPECT_EQ(perf_gate_errno(), EINVAL);
  EXPECT_EQ(exit_code_of_child([] { return setuid(65534) != 0 ? 200 : perf_gate_errno(); }), EINVAL);
}

TEST(PerfCounter, of_the_next_program_counts_nothing_of_this_one) {
  const PerfCounter counter = open_for_next_program(KernelEvent::page_faults);
  if (!counter) GTEST_SKIP() << "the kernel refuses perf_event_open here";
  // Fresh pages, each touched for the first time.
  const std::size_t size = 64 * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::vector<char> pages(size, 'x');
  EXPECT_EQ(pages.back(), 'x');
  const auto before = counter.read();
  ASSERT_TRUE(before);
  EXPECT_EQ(before->value, 0u);
  EXPECT_EQ(before->enabled.count(), 0);
  EXPECT_EQ(exit_code_of_child([] { return execl("/bin/sh", "sh", "-c", ":", nullptr); }), 0);
  EXPECT_GT(counter.read()->value, 0u);
}

TEST(FaultLog, records_every_fault_of_the_next_program) {
  const PerfCounter counter = open_for_next_program(KernelEvent::page_faults);
  auto log = FaultLog::open(KernelEvent::page_faults, false);
  if (!counter || !log) GTEST_SKIP() << "the kernel refuses perf_event_open here";
  // A child that inherits it, too; the kernel copies 1.5 MiB of its variables to the stack.
  const std::string much(100'000, 'x');
  for (int i = 0; i < 15; ++i) setenv(("TALLY_MUCH_" + std::to_string(i)).c_str(), much.c_str(), 1);
  EXPECT_EQ(exit_code_of_child([] { return execl("/bin/sh", "sh", "-c", "/bin/true; :", nullptr); }), 0);
  for (int i = 0; i < 15; ++i) unsetenv(("TALLY_MUCH_" + std::to_string(i)).c_str());
  const FaultPlaces places = log->finish();
  std::int64_t faults = 0, on_stacks = 0;
  for (const auto& [mebibyte, n] : places.in_mebibyte) {
    faults += n;
    if (mebibyte >= 0x7ff000000000 >> 20) on_stacks += n;  // the highest addresses, of 47 bits (x86-64) or 48 (arm64)
  }
  EXPECT_EQ(places.lost, 0);
  EXPECT_EQ(faults, static_cast<std::int64_t>(counter.read()->value));
  EXPECT_GT(on_stacks, 0);
}

TEST(PerfGate, a_seccomp_filter_answers_instead) {
  for (const int answer : {EPERM, ENOSYS}) {
    EXPECT_EQ(exit_code_of_child([&] { return refuse_perf(answer) ? perf_gate_errno() : 200; }), answer);
  }
}

TEST(KnownWork, a_pmu_that_counts_wrong_is_not_trusted) {
  const auto why = [](std::uint64_t value, std::int64_t running = 1) {
    return why_not_trusted({"branches", 0, PerfValue{value, Nanoseconds{1}, Nanoseconds{running}}, 500, 550});
  };
  EXPECT_EQ(why(500), "");
  EXPECT_EQ(why(550), "");
  EXPECT_EQ(why(0), "it counts wrongly: a loop of 500 branches was 0");
  EXPECT_EQ(why(499), "it counts wrongly: a loop of 500 branches was 499");
  EXPECT_EQ(why(8000), "it counts wrongly: a loop of 500 branches was 8000");
  EXPECT_NE(why(0, 0).find("never run"), std::string::npos);
  EXPECT_NE(why_not_trusted({"branches", EACCES, {}, 500, 550}).find("Permission denied"), std::string::npos);
  EXPECT_FALSE(why_not_trusted({"branches", 0, {}, 500, 550}).empty());
}

constexpr PerfEvent faults{perf_type_software, static_cast<std::uint64_t>(KernelEvent::page_faults)};
constexpr PerfEvent switches{perf_type_software, static_cast<std::uint64_t>(KernelEvent::context_switches)};
constexpr PerfEvent migrations{perf_type_software, static_cast<std::uint64_t>(KernelEvent::cpu_migrations)};

PerfTarget this_thread_and_its_children() {
  PerfTarget target;
  target.inherit = true;
  target.whole_group = true;
  return target;
}

void touch_fresh_pages() {
  const std::vector<char> pages(64 * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)), 'x');
  EXPECT_EQ(pages.back(), 'x');
}

TEST(PerfGroup, is_read_as_one_in_the_order_of_opening) {
  const PerfTarget target = this_thread_and_its_children();
  const PerfCounter leader = open_counter(switches, target);
  if (!leader) GTEST_SKIP() << "the kernel refuses perf_event_open here";
  const PerfCounter second = open_counter(faults, target, &leader);
  const PerfCounter third = open_counter(migrations, target, &leader);
  ASSERT_TRUE(second && third);
  std::array<PerfValue, 3> before;
  std::array<PerfValue, 3> after;
  ASSERT_EQ(leader.read_group(before), 0);
  touch_fresh_pages();
  ASSERT_EQ(leader.read_group(after), 0);
  EXPECT_GE(after[1].value, before[1].value + 64);
  EXPECT_LT(after[2].value, 64U);
  EXPECT_EQ(after[0].enabled, after[2].enabled) << "their times are the same";
  EXPECT_GT(after[0].enabled, before[0].enabled);
  std::array<PerfValue, 4> too_many;
  EXPECT_EQ(leader.read_group(too_many), EIO);
  std::array<PerfValue, largest_group_read + 1> absurd;
  EXPECT_EQ(leader.read_group(absurd), E2BIG);
}

// Reads a group of which a child has inherited only the leader. Nothing if the kernel
// accepts no further member for it: it swaps the counters of two threads that have the same ones.
std::optional<int> why_unreadable_with_child() {
  const PerfTarget target = this_thread_and_its_children();
  const PerfCounter leader = open_counter(switches, target);
  int ends[2];
  if (!leader || pipe(ends) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) {
    char byte = 0;
    close(ends[1]);
    [[maybe_unused]] const ssize_t size = read(ends[0], &byte, 1);
    _exit(0);
  }
  const PerfCounter member = open_counter(faults, target, &leader);
  std::array<PerfValue, 2> values;
  const int why = leader.read_group(values);
  close(ends[0]);
  close(ends[1]);
  waitpid(child, nullptr, 0);
  return member ? std::optional(why) : std::nullopt;
}

// Since Linux 6.6; before, the sums were wrong.
TEST(PerfGroup, reports_a_child_without_the_whole_group) {
  if (!open_counter(switches)) GTEST_SKIP() << "the kernel refuses perf_event_open here";
  std::optional<int> why;
  for (int i = 0; i < 100 && !why; ++i) why = why_unreadable_with_child();
  if (!why || *why == 0) GTEST_SKIP() << "this kernel adds up what does not belong together";
  EXPECT_EQ(*why, ECHILD);
}

TEST(PerfGroup, has_a_leader_that_is_a_counter) {
  if (!open_counter(faults)) GTEST_SKIP() << "the kernel refuses perf_event_open here";
  // A descriptor that is not open.
  const PerfCounter none{Descriptor(dup(0)), 0};
  close(none.fd.get());
  EXPECT_EQ(open_counter(faults, {}, &none).os_errno, EBADF);
}

}  // namespace
}  // namespace tally::linux
