// Addresses belong to the program: it gets those that it asks for as without an engine, and its counts stay exact.
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

class AddressTest : public testing::TestWithParam<const char*> {};

Command program(const char* kind, const char* way) {
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/addresses_" + kind, way};
  return command;
}

TEST_P(AddressTest, are_those_of_a_native_run) {
  for (const char* kind : {"dynamic", "static"}) {
    SCOPED_TRACE(kind);
    const Command command = program(kind, GetParam());
    const Outcome native = run_native(command);
    ASSERT_EQ(native.code, 0) << native.out << native.err;
    Counts first;
    for (const int size : {0, 1, reoptimized}) {
      SCOPED_TRACE(testing::Message() << "block size " << size);
      const Counted counted = run_counted(command, size);
      expect_same(counted.outcome, native);
      expect_exact(counted);
      if (size != 0 && std::string(GetParam()) != "among_threads") expect_counts(counted.counts, first);
      first = counted.counts;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(engine, AddressTest,
                         testing::Values("fixed", "all_fixed", "not_replacing", "hinted", "of_32_bits", "moved",
                                         "grown", "attached", "broken", "nothing_there", "among_threads"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace tally::engine_test
