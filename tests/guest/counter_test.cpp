// One counter of the kernel, and programs with known answers.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tally/linux/perf_event.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

constexpr linux::PerfEvent instructions{linux::perf_type_hardware, 1, true};

std::uint64_t counted(const std::string& program) {
  const linux::PerfCounter counter = linux::open_counter(instructions, linux::next_program);
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
  const Known loop = known("countdown", 1000000);
  const std::uint64_t value = counted(loop.path);
  EXPECT_GE(value, loop.counts.instructions);
  EXPECT_LE(value, loop.counts.instructions + (is_guest() ? 0 : 2000));
}

}  // namespace
}  // namespace tally::hardware_test
