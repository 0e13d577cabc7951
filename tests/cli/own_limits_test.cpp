// `tally run`: counters at the limits of descriptors and mappings are answered as the kernel answers its own.
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

TEST(OwnLimits, are_those_of_the_kernels_events) {
  const Finished natively = Running({OWN_LIMITS, "software"}).finish();
  if (natively.code() == 77) GTEST_SKIP() << "the kernel refuses all events";
  // Before Linux 6.16 the pages of events could be executable.
  if (natively.out.find("Permission denied") == std::string::npos) GTEST_SKIP() << "an older kernel";
  const Finished run = tally({"run", "--", OWN_LIMITS, "hardware"});
  EXPECT_EQ(run.code(), 0) << run.err;
  EXPECT_EQ(run.out, natively.out);
  EXPECT_NE(run.out.find("then Too many open files"), std::string::npos);
  EXPECT_NE(run.out.find("sizes: mapped Invalid argument mapped Invalid argument mapped"), std::string::npos);
}

}  // namespace
}  // namespace tally::test
