// Programs whose debug information is built to make reading names take for ever, or all memory.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;

/// A program with handwritten debug information: `entries` are those of its unit, in assembly.
std::string program_with(const std::string& entries) {
  return R"(.text
.globl _start
.type _start,@function
_start: mov $1000,%ecx
1: dec %ecx
 jnz 1b
 call g
 mov $60,%eax
 xor %edi,%edi
 syscall
.size _start,.-_start
.type g,@function
g: mov $100,%ecx
2: dec %ecx
 jnz 2b
 ret
ge:
.size g,.-g
.section .note.GNU-stack,"",@progbits
.section .debug_abbrev,"",@progbits
 .uleb128 1
 .uleb128 0x11
 .byte 1
 .uleb128 0x11
 .uleb128 1
 .uleb128 0x12
 .uleb128 7
 .byte 0,0
 .uleb128 2
 .uleb128 0x2e
 .byte 1
 .uleb128 0x11
 .uleb128 1
 .uleb128 0x12
 .uleb128 7
 .uleb128 0x31
 .uleb128 0x13
 .byte 0,0
 .uleb128 3
 .uleb128 0x1d
 .byte 1
 .uleb128 0x31
 .uleb128 0x13
 .uleb128 0x11
 .uleb128 1
 .uleb128 0x12
 .uleb128 7
 .byte 0,0
 .uleb128 6
 .uleb128 0x2e
 .byte 1
 .uleb128 0x11
 .uleb128 1
 .uleb128 0x12
 .uleb128 7
 .uleb128 1
 .uleb128 0x13
 .byte 0,0
 .byte 0
.section .debug_info,"",@progbits
cu: .long 9f-8f
8: .value 4
 .long 0
 .byte 8
 .uleb128 1
 .quad _start
 .quad ge-_start
)" + entries +
         "\n9:\n";
}

class HostileFile : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
  }
  /// What `tally profile --inlines` reports for such a program; tally must not end with a signal.
  static Finished profiled(const std::string& entries) {
    const TemporaryFile source("program.s", program_with(entries));
    const std::string program = source.folder() + "/program";
    Finished finished;
    if (Running({"/bin/sh", "-c", "cc -nostdlib -static -o " + program + " " + source.path()}).finish().code() == 0)
      finished = tally({"profile", "--backend", "engine", "--inlines", "-o", "/dev/null", "--", program});
    else
      finished.err = "no compiler";
    fs::remove(program);
    return finished;
  }
};

#define TALLY_NEEDS_COMPILER(finished) \
  if ((finished).err == "no compiler") GTEST_SKIP() << "there is no compiler for x86-64"

TEST_F(HostileFile, with_endlessly_nested_functions_is_read_to_a_limit) {
  const Finished finished = profiled(
      "sp: .uleb128 2\n .quad g\n .quad ge-g\n .long sp-cu\n"
      " .rept 200000\n .uleb128 3\n .long sp-cu\n .quad g\n .quad ge-g\n .endr\n .rept 200000\n .byte 0\n .endr\n"
      " .byte 0,0");
  TALLY_NEEDS_COMPILER(finished);
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_TRUE(holds(finished.err, "nested more than 128 deep")) << finished.err;
}

TEST_F(HostileFile, with_too_many_inlined_functions_is_reported) {
  const Finished finished = profiled(
      "sp: .uleb128 2\n .quad g\n .quad ge-g\n .long sp-cu\n"
      " .rept 600000\n .uleb128 3\n .long sp-cu\n .quad g\n .quad ge-g\n .byte 0\n .endr\n .byte 0,0");
  TALLY_NEEDS_COMPILER(finished);
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_TRUE(holds(finished.err, "more than 500,000 inlined functions")) << finished.err;
}

TEST_F(HostileFile, whose_entries_form_a_cycle_is_skipped) {
  const Finished finished = profiled("sp: .uleb128 6\n .quad g\n .quad ge-g\n .long sp-cu\n .byte 0\n .byte 0");
  TALLY_NEEDS_COMPILER(finished);
  EXPECT_EQ(finished.code(), 0) << finished.err;
}

/// Each parameter is a pair of two of the previous one: 40 of them would expand to terabytes of text.
TEST_F(HostileFile, whose_names_refer_to_themselves_keeps_them_as_they_are) {
  std::string name = "_Z1fSt4pairIiiE";
  for (int i = 0; i < 40; ++i) {
    std::string number;
    for (int n = i == 0 ? 0 : i; n > 0 || number.empty(); n /= 36)
      number.insert(0, 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[n % 36]);
    name += "S_IS" + number + "_S" + number + "_E";
  }
  const TemporaryFile source(
      "program.s", ".text\n.globl _start\n_start: call " + name + "\n mov $60,%eax\n xor %edi,%edi\n syscall\n.type " +
                       name + ",@function\n" + name + ": mov $1000,%ecx\n1: dec %ecx\n jnz 1b\n ret\n.size " + name +
                       ",.-" + name + "\n.section .note.GNU-stack,\"\",@progbits\n");
  const std::string program = source.folder() + "/program";
  if (Running({"/bin/sh", "-c", "cc -nostdlib -static -o " + program + " " + source.path()}).finish().code() != 0)
    GTEST_SKIP() << "there is no compiler for x86-64";
  const Finished finished =
      tally({"profile", "-q", "--backend", "engine", "--format", "json", "-o", "-", "--", program});
  fs::remove(program);
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_TRUE(holds(finished.out, name.substr(0, 60))) << finished.out.substr(0, 1000);
}

/// tally searches for debug files on this machine only, whatever the environment says, unless the user passes the
/// option.
class DebugServers : public HostileFile {
 protected:
  /// A profile with a debuginfod-find that only records that it was called, and with what arguments.
  std::string debuginfod_calls(const Words& options) {
    const TemporaryFile tool("debuginfod-find", "#!/bin/sh\necho \"$@\" >>\"${0%/*}/asked\"\nexit 1\n", 0755);
    std::string command = "PATH=" + tool.folder() + ":$PATH DEBUGINFOD_URLS=http://127.0.0.1:9 exec \"$0\" \"$@\"";
    Words words{"/bin/sh", "-c", command};
    Words of_tally{"profile", "--backend", "engine"};
    of_tally.insert(of_tally.end(), options.begin(), options.end());
    of_tally.insert(of_tally.end(), {"--", "true"});
    for (const std::string& word : tally_words(of_tally)) words.push_back(word);
    finished_ = Running(words).finish();
    const std::string file = tool.folder() + "/asked";
    const std::string text = TemporaryFile::read(file).value_or("");
    fs::remove(file);
    return text;
  }
  Finished finished_;
};

TEST_F(DebugServers, are_not_asked) {
  EXPECT_EQ(debuginfod_calls({}), "");
  EXPECT_EQ(finished_.code(), 0) << finished_.err;
}

TEST_F(DebugServers, are_asked_with_the_option_and_this_is_reported) {
  const std::string text = debuginfod_calls({"--debuginfod"});
  EXPECT_EQ(finished_.code(), 0) << finished_.err;
  if (text.empty()) GTEST_SKIP() << "all debug files are installed here";
  EXPECT_TRUE(text.starts_with("debuginfo ")) << text;
  EXPECT_TRUE(holds(finished_.err, "asking debuginfod for the debug file of ")) << finished_.err;
}

TEST(DebugServersOption, needs_a_server) {
  const Finished finished = Running(with({"/bin/sh", "-c", "unset DEBUGINFOD_URLS; exec \"$0\" \"$@\""},
                                         tally_words({"profile", "--debuginfod", "--", "true"})))
                                .finish();
  EXPECT_EQ(finished.code(), 2);
  EXPECT_TRUE(holds(finished.err, "DEBUGINFOD_URLS names no server")) << finished.err;
}

}  // namespace
}  // namespace tally::test
