// One counter of the kernel, and programs with known answers.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tally/counting/backend/perf/order_counters.hpp"
#include "tally/hardware/event/event.hpp"
#include "tally/linux/machine/pmu_devices.hpp"
#include "tally/linux/perf/perf_event.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

constexpr linux::PerfEvent counted_instructions{linux::perf_type_hardware, 1, true};

std::uint64_t instructions_counted(const std::string& program) {
  const linux::PerfCounter counter = linux::open_counter(counted_instructions, linux::next_program);
  const pid_t child = fork();
  if (child == 0) {
    execl(program.c_str(), program.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << program;
  return counter.read()->value;
}

TEST(Counter, a_known_loop_is_counted_to_the_instruction) {
  TALLY_NEEDS_PMU();
  const KnownProgram loop = known("countdown", 1000000);
  const std::uint64_t value = instructions_counted(loop.path);
  EXPECT_GE(value, loop.counts.instructions);
  EXPECT_LE(value, loop.counts.instructions + (is_guest() ? 0 : 2000));
}

// As if this processor's PMU were two PMUs of two kinds of cores: the kernel groups no events of two PMUs.
TEST(Counter, a_group_of_two_pmus_has_a_leader_on_each) {
  TALLY_NEEDS_PMU();
  std::vector<linux::PmuDevice> cores;
  for (const std::string& name : linux::pmu_names()) {
    const auto device = linux::pmu_device("/", name);
    if (device && device->is_core) cores.assign(2, *device);
  }
  if (cores.empty() || !cores.front().type) GTEST_SKIP() << "the kernel has no type number for this machine's PMU";
  cores[0].name = "cpu_atom";
  cores[1].name = "cpu_core";
  const char* group = is_guest() ? "{page-faults,r08,r11}" : "{page-faults,instructions,cycles}";
  backend::perf::Counters counters(*event::parse_lists({group}), cores);
  counters.open({0, -1, false, linux::PerfStart::at_once, -1});
  ASSERT_EQ(counters.first_errno(), 0);
  ASSERT_EQ(counters.reads().size(), 2u);
  EXPECT_EQ(counters.reads()[0].pmu, "cpu_atom");
  EXPECT_EQ(counters.reads()[0].places, (std::vector<std::size_t>{0, 1, 3}));
  EXPECT_EQ(counters.reads()[1].pmu, "cpu_core");
  EXPECT_EQ(counters.reads()[1].places, (std::vector<std::size_t>{2, 4}));
  for (const Count& count : counters.read()) EXPECT_TRUE(count.value) << count.reason;
  EXPECT_EQ(counters.of_core("cpu_core", {0}).size(), 2u);
}

}  // namespace
}  // namespace tally::hardware_test
