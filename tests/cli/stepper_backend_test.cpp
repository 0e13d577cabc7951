// `tally stat --backend stepper`, also for 32-bit programs.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

#if TALLY_HAS_ENGINE
using Json = nlohmann::json;

std::int64_t count_of(const Json& result, const std::string& event) {
  for (const Json& one : result["events"])
    if (one["event"] == event) {
      EXPECT_EQ(one["trust"], "exact") << one;
      return one["value"].is_number() ? one["value"].get<std::int64_t>() : -1;
    }
  ADD_FAILURE() << event << " is not in " << result;
  return -1;
}

// Ten rounds of four instructions, a call, all registers, five bytes, flags, and two system calls. A decoder of 64-bit
// code would take `dec %ecx` (49) for a prefix.
constexpr const char* program = R"(
  .globl _start
_start:
  mov $10, %ecx
round:
  push %ecx
  pop %eax
  dec %ecx
  jnz round
  call function
  pushal
  popal
  mov $bytes, %esi
  mov $bytes, %edi
  mov $5, %ecx
  rep movsb
  pushf
  popf
  mov $20, %eax
  int $0x80
  mov $1, %eax
  mov $7, %ebx
  int $0x80
function:
  ret
  .data
bytes: .space 8
)";

TEST(StepperBackend, counts_a_32_bit_program) {
  const TemporaryFile source("counted.s", program);
  const std::string built = source.path() + ".out";
  if (Running({"/usr/bin/gcc", "-m32", "-nostdlib", "-static", "-o", built, source.path()}).finish().code() != 0)
    GTEST_SKIP() << "gcc does not link 32-bit programs here";
  if (Running({built}).finish().code() != 7) GTEST_SKIP() << "this kernel runs no 32-bit programs";
  const Finished finished =
      tally({"stat", "--backend", "stepper", "-e",
             "instructions,loads,stores,conditional-branches,conditional-taken,direct-calls,returns,far-branches",
             "--format", "json", "-o", "-", "--", built});
  EXPECT_EQ(finished.code(), 7) << finished.err;
  const Json result = Json::parse(finished.out);
  EXPECT_EQ(result["backend"], "stepper");
  EXPECT_EQ(count_of(result, "instructions"), 1 + 10 * 4 + 2 + 2 + 4 + 2 + 2 + 3);
  EXPECT_EQ(count_of(result, "loads"), 10 + 1 + 8 + 5 + 1);
  EXPECT_EQ(count_of(result, "stores"), 10 + 1 + 8 + 5 + 1);
  EXPECT_EQ(count_of(result, "conditional-branches"), 10);
  EXPECT_EQ(count_of(result, "conditional-taken"), 9);
  EXPECT_EQ(count_of(result, "direct-calls"), 1);
  EXPECT_EQ(count_of(result, "returns"), 1);
  EXPECT_EQ(count_of(result, "far-branches"), 2);
  const Finished engine = tally({"stat", "--backend", "engine", "-e", "instructions", "--", built});
  EXPECT_NE(engine.err.find("`--backend stepper` counts it"), std::string::npos) << engine.out << engine.err;
}

// Number 26 is ptrace() and 101 is ioperm() in 32-bit calls, which 64-bit code makes by `int $0x80`.
TEST(StepperBackend, refuses_programs_that_call_ptrace_by_32_bit_calls) {
  const TemporaryFile source("calls.s", R"(
  .globl _start
_start:
  mov $number, %eax
  xor %ebx, %ebx
  int $0x80
  mov $1, %eax
  mov $7, %ebx
  int $0x80
)");
  const std::string built = source.path() + ".out";
  for (const std::string mode : {"-m32", "-m64"})
    for (const std::string number : {"26", "101"}) {
      const Words compile{"/usr/bin/gcc", mode,  "-nostdlib",  "-static", "-Wa,--defsym,number=" + number,
                          "-o",           built, source.path()};
      if (Running(compile).finish().code() != 0) GTEST_SKIP() << "gcc does not link " << mode << " programs here";
      if (Running({built}).finish().code() != 7) GTEST_SKIP() << "this kernel has no 32-bit calls";
      const Finished finished = tally({"stat", "--backend", "stepper", "-e", "instructions", "--", built});
      const bool refuses = finished.err.find("traces processes, which single-stepping does") != std::string::npos;
      EXPECT_EQ(refuses, number == "26") << mode << '\n' << finished.err;
    }
}

// The C library of a child with an empty environment registers restartable sequences, which the engine refuses.
TEST(StepperBackend, refuses_restartable_sequences_as_the_engine_does) {
  const TemporaryFile source(
      "rseq.c",
      "#include <errno.h>\n#include <unistd.h>\n"
      "int main(void) {\n  return syscall(334, 0, 0, 0, 0) == -1 && errno == ENOSYS ? 7 : 3;\n}\n");
  const std::string built = source.path() + ".out";
  ASSERT_EQ(Running({"/usr/bin/gcc", "-o", built, source.path()}).finish().code(), 0);
  for (const char* const backend : {"stepper", "engine"})
    EXPECT_EQ(tally({"stat", "--backend", backend, "-e", "instructions", "--", built}).code(), 7) << backend;
}

TEST(StepperBackend, refuses_what_it_does_not_count) {
  EXPECT_EQ(tally({"stat", "--backend", "stepper", "-e", "cycles", "--", "true"}).code(), 125);
  EXPECT_EQ(tally({"sample", "--backend", "stepper", "--every", "1000", "--", "true"}).code(), 125);
  const Finished attached = tally({"stat", "--backend", "stepper", "-p", "1", "-e", "instructions"});
  EXPECT_NE(attached.err.find("`--backend stepper` counts only programs that tally starts"), std::string::npos)
      << attached.err;
}
#endif

}  // namespace
}  // namespace tally::test
