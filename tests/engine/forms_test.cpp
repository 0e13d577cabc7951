// Instructions that compilers do not generate: see libc/forms.cpp.
#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

TEST(InstructionForms, do_what_they_do_natively) {
  for (const char* kind : {"dynamic", "static"}) {
    Command command;
    command.words = {std::string(LIBC_PROGRAMS) + "/forms_" + kind};
    const Outcome native = run_native(command);
    ASSERT_EQ(native.code, 0) << native.err;
    ASSERT_FALSE(native.out.empty());
    for (const int size : {0, 1}) {
      const Counted counted = run_counted(command, size);
      expect_same(counted.outcome, native);
      expect_exact(counted);
    }
  }
}

}  // namespace
}  // namespace tally::engine_test
