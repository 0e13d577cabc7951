// Memory with code that the kernel writes into (libc/kernel_writes.cpp), and memory whose mapping changes
// (libc/mappings.cpp).
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

struct Case {
  const char* program;
  const char* name;
  bool exact = true;
};

std::ostream& operator<<(std::ostream& stream, const Case& one) { return stream << one.program << ' ' << one.name; }

class MappingTest : public testing::TestWithParam<Case> {};

TEST_P(MappingTest, is_as_natively) {
  constexpr int cannot = 77;
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/" + GetParam().program + "_static", GetParam().name};
  const Outcome native = run_native(command);
  if (native.code == cannot) GTEST_SKIP() << "this kernel cannot do it, or does not allow it";
  for (const int block_size : {0, 1}) {
    SCOPED_TRACE(testing::Message() << "block size " << block_size);
    const Counted counted = run_counted(command, block_size);
    expect_same(counted.outcome, native);
    EXPECT_EQ(counted.exact, GetParam().exact) << counted.problem;
  }
}

INSTANTIATE_TEST_SUITE_P(
    engine, MappingTest,
    testing::Values(Case{"kernel_writes", "waits"}, Case{"kernel_writes", "reads"}, Case{"kernel_writes", "receives"},
                    Case{"kernel_writes", "receives_descriptor"}, Case{"kernel_writes", "accepts"},
                    Case{"kernel_writes", "asks"}, Case{"kernel_writes", "timers"}, Case{"kernel_writes", "queues"},
                    Case{"kernel_writes", "copies"}, Case{"kernel_writes", "waits_meanwhile"},
                    Case{"kernel_writes", "ends"}, Case{"kernel_writes", "ends_with_mutex"},
                    Case{"kernel_writes", "starts"}, Case{"kernel_writes", "asynchronous"},
                    Case{"kernel_writes", "ring"}, Case{"mappings", "sealed"}, Case{"mappings", "other_pages"},
                    Case{"mappings", "guarded"}, Case{"mappings", "emptied"}, Case{"mappings", "emptied_elsewhere"},
                    Case{"mappings", "not_in_child"}, Case{"mappings", "attached_over"},
                    Case{"mappings", "both_writable"}, Case{"mappings", "many_mappings", false},
                    Case{"mappings", "denied"}, Case{"mappings", "data_next_to_code"},
                    Case{"mappings", "refused", false}, Case{"mappings", "absent_writable"},
                    Case{"mappings", "absent_constant"}, Case{"mappings", "never_there"}),
    [](const auto& one) { return std::string(one.param.program) + "_" + one.param.name; });

}  // namespace
}  // namespace tally::engine_test
