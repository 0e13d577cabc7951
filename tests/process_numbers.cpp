// Tests that compare the counts of several processes wait until process IDs keep their number of digits for a while.
#include "tests/process_numbers.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace tally::test {
namespace {

/// More than any one test starts. Concurrent programs may start more: long tests compare the digits themselves.
constexpr pid_t room = 2000;

pid_t next() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  if (child > 0) waitpid(child, nullptr, 0);
  return child;
}

class ProcessNumbers : public testing::Environment {
 public:
  void SetUp() override {
    pid_t limit = 1 << 22;  // proc(5): the maximum
    std::ifstream("/proc/sys/kernel/pid_max") >> limit;
    // After the limit the numbers start again at 300 or more.
    for (pid_t at = next(), tried = 0; tried < 4 * room && is_near_a_change(at, limit); ++tried) at = next();
  }

 private:
  static bool is_near_a_change(pid_t at, pid_t limit) {
    return at + room >= limit || std::to_string(at).size() != std::to_string(at + room).size();
  }
};

const testing::Environment* const process_numbers = testing::AddGlobalTestEnvironment(new ProcessNumbers);

}  // namespace

std::size_t digits_of_process_numbers() { return std::to_string(next()).size(); }

}  // namespace tally::test
