#include <gtest/gtest.h>

#include <cstdlib>

#include "tally/hardware/assembly/code_loop.hpp"
#include "tally/linux/process/scratch_folder.hpp"
#include "tally/linux/process/tool.hpp"

namespace tally::assembly {
namespace {

bool has_assembler() { return linux::run_tool({"as", "--version"}).has_value(); }
#define NEEDS_AN_ASSEMBLER() \
  if (!has_assembler()) GTEST_SKIP() << "as is not installed (package binutils)"

TEST(Assembly, of_a_line_has_its_bytes) {
  NEEDS_AN_ASSEMBLER();
  const auto bytes = machine_code("nop; nop", "--asm");
  ASSERT_TRUE(bytes) << bytes.error().message;
#if defined(__x86_64__)
  EXPECT_EQ(*bytes, "\x90\x90");
#else
  EXPECT_EQ(bytes->size(), 8U);
#endif
}

TEST(Assembly, errors_are_reported_with_their_line) {
  NEEDS_AN_ASSEMBLER();
  const auto one = machine_code("nop\nfrobnicate\nnop", "prog.s");
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().code, Code::bad_usage);
  EXPECT_NE(one.error().message.find("prog.s cannot be assembled: line 2, frobnicate: "), std::string::npos)
      << one.error().message;
}

#if defined(__x86_64__)
TEST(Assembly, refuses_att_syntax_that_the_assembler_would_read_in_the_other_order) {
  NEEDS_AN_ASSEMBLER();
  const auto refused = machine_code("nop; mov %eax, %ebx", "--asm");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::bad_usage);
  EXPECT_NE(refused.error().message.find("'mov %eax, %ebx' is AT&T syntax"), std::string::npos);
  EXPECT_TRUE(machine_code(".att_syntax; mov %eax, %ebx", "--asm"));
  EXPECT_TRUE(machine_code("nop # 5 %eax", "--asm"));
}
#endif

TEST(Assembly, makes_programs_that_end_with_0) {
  NEEDS_AN_ASSEMBLER();
  const auto folder = linux::ScratchFolder::make();
  ASSERT_TRUE(folder);
  const auto program = make_program({"nop", {"nop", "nop; nop"}, 4, 3}, folder->path(), "prog");
  ASSERT_TRUE(program) << program.error().message;
  const auto end = linux::run_tool({*program});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 0);
}

TEST(Assembly, named_labels_cannot_be_repeated) {
  EXPECT_EQ(why_not_repeated("1: nop; jmp 1b"), "");
  EXPECT_NE(why_not_repeated("nop; again: jmp again"), "");
  EXPECT_EQ(why_not_repeated("mov rax, qword ptr fs:[0]"), "");
}

}  // namespace
}  // namespace tally::assembly
