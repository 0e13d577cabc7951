// Libraries that are loaded and unloaded: see libc/plugins.cpp.
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

TEST(Libraries, are_loaded_and_unloaded_ten_thousand_times) {
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/plugins", LIBC_PROGRAMS, "10000"};
  const Outcome native = run_native(command);
  ASSERT_EQ(native.code, 0) << native.err;
  const Counted counted = run_counted(command);
  expect_same(counted.outcome, native);
  expect_exact(counted);
}

}  // namespace
}  // namespace tally::engine_test
