// Instructions that compilers do not generate: see libc/forms.cpp.
#include <csignal>
#include <sstream>

#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

#if defined(__x86_64__)
/// Whether the flag of a nested task outlives the return from a signal handler. Some hypervisors clear it there, and
/// the engine returns so to each instruction that it leaves to the processor.
bool signals_keep_nested_tasks() {
  constexpr unsigned long nested_task = 0x4000;
  struct sigaction ignored = {}, before = {};
  ignored.sa_handler = [](int) {};
  sigaction(SIGTRAP, &ignored, &before);
  unsigned long flags = 0;
  asm volatile(
      "pushf\n orq $0x4000, (%%rsp)\n popf\n int3\n pushf\n popq %0\n"
      "pushf\n andq $~0x4000, (%%rsp)\n popf"
      : "=r"(flags)
      :
      : "memory", "cc");
  sigaction(SIGTRAP, &before, nullptr);
  return (flags & nested_task) != 0;
}
#else
bool signals_keep_nested_tasks() { return true; }
#endif

/// Without the lines of `iret` in a nested task if this machine cannot show what it does.
Outcome comparable(Outcome outcome) {
  if (signals_keep_nested_tasks()) return outcome;
  std::string kept;
  std::istringstream lines(outcome.out);
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("iretq in a nested task") && !line.starts_with("iret of 32 bits in a nested task"))
      kept += line + "\n";
  outcome.out = kept;
  return outcome;
}

TEST(InstructionForms, do_what_they_do_natively) {
  for (const char* kind : {"dynamic", "static"}) {
    Command command;
    command.words = {std::string(LIBC_PROGRAMS) + "/forms_" + kind};
    const Outcome native = comparable(run_native(command));
    ASSERT_EQ(native.code, 0) << native.err;
    ASSERT_FALSE(native.out.empty());
    for (const int size : {0, 1}) {
      const Counted counted = run_counted(command, size);
      expect_same(comparable(counted.outcome), native);
      expect_exact(counted);
    }
  }
}

}  // namespace
}  // namespace tally::engine_test
