// `tally rdpmc` on a processor with a PMU.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "tally/linux/perf/user_counter.hpp"
#include "tests/cli/program.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

test::Finished rdpmc(const test::Words& words) {
  test::Words all{TALLY_COMMAND, "rdpmc"};
  all.insert(all.end(), words.begin(), words.end());
  return test::Running(all).finish();
}

TEST(Rdpmc, is_refused_on_arm64) {
#if !defined(__aarch64__)
  GTEST_SKIP() << "this is not arm64";
#endif
  for (const char* word : {"on", "off", "status"}) {
    const auto finished = rdpmc({word});
    EXPECT_EQ(finished.code(), 125) << finished.out;
    EXPECT_NE(finished.err.find("on arm64 a program may only read counters of its own events"), std::string::npos)
        << finished.err;
  }
}

#if defined(__x86_64__)
// The selector in the first column of the table's row for an event; nullopt if it is on no counter.
std::optional<std::uint32_t> selector_of(const std::string& table, const std::string& event) {
  const std::size_t at = table.find("  " + event);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t line = table.rfind('\n', at) + 1;
  if (table.compare(line, 3, " 0x") != 0) return std::nullopt;
  return static_cast<std::uint32_t>(std::strtoul(table.c_str() + line, nullptr, 16));
}

// 2 n instructions and a few more.
void count_down(std::uint64_t n) { asm volatile("1: dec %0; jnz 1b" : "+r"(n)::"cc"); }
#endif

TEST(Rdpmc, lets_this_program_read_what_it_never_opened) {
#if defined(__x86_64__)
  TALLY_NEEDS_PMU();
  if (geteuid() != 0) GTEST_SKIP() << "only root can change the switch";
  if (!getenv("TALLY_MAY_SWITCH_RDPMC")) {
    GTEST_SKIP() << "it enables rdpmc for every program of this machine, for a moment: set TALLY_MAY_SWITCH_RDPMC=1";
  }
  const auto before = test::TemporaryFile::read("/sys/bus/event_source/devices/cpu/rdpmc");
  const auto begun = rdpmc({"on", "-e", "instructions"});
  ASSERT_EQ(begun.code(), 0) << begun.err;
  EXPECT_EQ(rdpmc({"status"}).code(), 0);
  const auto selector = selector_of(begun.out, "instructions:u");
  EXPECT_TRUE(selector) << begun.out;
  if (selector) {
    const linux::ReadWord read = linux::word_reader(*selector + 1, 48);
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(sched_getcpu(), &first);
    ASSERT_EQ(sched_setaffinity(0, sizeof first, &first), 0);
    constexpr std::uint64_t n = 1'000'000;
    const std::int64_t from = read(*selector);
    count_down(n);
    const std::uint64_t counted = static_cast<std::uint64_t>(read(*selector) - from) & ((std::uint64_t{1} << 48) - 1);
    EXPECT_GE(counted, 2 * n);
    EXPECT_LT(counted, 3 * n) << "other processes of this processor may be included";
  }
  EXPECT_EQ(rdpmc({"off"}).code(), 0);
  EXPECT_EQ(rdpmc({"status"}).code(), 1);
  EXPECT_EQ(test::TemporaryFile::read("/sys/bus/event_source/devices/cpu/rdpmc"), before);
#else
  GTEST_SKIP() << "rdpmc is an instruction of x86";
#endif
}

}  // namespace
}  // namespace tally::hardware_test
