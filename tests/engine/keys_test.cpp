// Code that may only be executed, and memory protection keys.
#include <elf.h>
#include <sys/stat.h>

#include <csignal>
#include <cstring>

#include "tests/engine/expect.hpp"

namespace tally::engine_test {
namespace {

bool has_keys() { return read_file("/proc/cpuinfo").find(" ospke") != std::string::npos; }

Command keys(const char* how) {
  Command command;
  command.words = {std::string(LIBC_PROGRAMS) + "/keys_static", how};
  return command;
}

// As linkers make it with --execute-only; the kernel shows such a mapping as one that cannot be read.
TEST(ExecuteOnly, code_of_a_program_is_translated) {
  const Scratch scratch;
  std::string program = read_file(std::string(PROGRAMS) + "/loops");
  Elf64_Ehdr head{};
  ASSERT_GT(program.size(), sizeof head);
  std::memcpy(&head, program.data(), sizeof head);
  int changed = 0;
  for (unsigned i = 0; i < head.e_phnum; ++i) {
    const std::size_t at = head.e_phoff + i * sizeof(Elf64_Phdr);
    Elf64_Phdr segment{};
    std::memcpy(&segment, program.data() + at, sizeof segment);
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    segment.p_flags = PF_X;
    std::memcpy(program.data() + at, &segment, sizeof segment);
    ++changed;
  }
  ASSERT_EQ(changed, 1);
  Command command;
  command.words = {scratch.write("execute_only", program)};
  ASSERT_EQ(chmod(command.words[0].c_str(), 0755), 0);
  expect_as_stepped(command, 0, true);
  EXPECT_EQ(run_counted(command).single_stepped, 0u);
}

class KeysEverywhere : public testing::TestWithParam<const char*> {};

TEST_P(KeysEverywhere, are_requested_and_fault_as_natively_even_if_unsupported) {
  const Command command = keys(GetParam());
  const Outcome native = run_native(command);
  EXPECT_EQ(native.out, "1\n");
  for (const int size : block_sizes()) {
    const Counted counted = run_counted(command, size);
    expect_same(counted.outcome, native);
    expect_exact(counted);
  }
}

INSTANTIATE_TEST_SUITE_P(engine, KeysEverywhere, testing::Values("fault", "ask"),
                         [](const auto& one) { return "program_" + std::to_string(one.index); });

class KeysTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!has_keys()) GTEST_SKIP() << "the processor or the kernel has no protection keys";
  }
};

class KeysCounted : public KeysTest {};

TEST_P(KeysCounted, runs_translated_and_counts_exactly) {
  const Command command = keys(GetParam());
  const Outcome native = run_native(command);
  ASSERT_EQ(native.code, 0);
  for (const int size : block_sizes()) {
    const Counted counted = run_counted(command, size);
    expect_same(counted.outcome, native);
    expect_exact(counted);
    EXPECT_EQ(counted.single_stepped, 0u);
  }
}
INSTANTIATE_TEST_SUITE_P(engine, KeysCounted,
                         testing::Values("execute-only", "denied-code", "change", "restore", "return", "stack"),
                         [](const auto& one) { return "program_" + std::to_string(one.index); });

class KeysNative : public KeysTest {};

TEST_P(KeysNative, continues_natively_by_name) {
  const Command command = keys(GetParam());
  const Outcome native = run_native(command);
  // The kernel cannot read all of a frame that denies it key 0.
  if (native.code != 128 + SIGSEGV || GetParam() != std::string("return-none")) ASSERT_EQ(native.out, "500500\n");
  for (const int size : block_sizes()) {
    const Counted counted = run_counted(command, size);
    expect_same(counted.outcome, native);
    EXPECT_FALSE(counted.exact);
    EXPECT_NE(counted.problem.find("it disabled access to memory with protection key 0"), std::string::npos)
        << counted.problem;
  }
}
INSTANTIATE_TEST_SUITE_P(engine, KeysNative,
                         testing::Values("deny-all", "deny-writes", "restore-none", "restore-read-only", "return-none",
                                         "return-read-only", "allocate"),
                         [](const auto& one) { return "program_" + std::to_string(one.index); });

}  // namespace
}  // namespace tally::engine_test
