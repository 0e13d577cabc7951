// Branches of a program, as BOLT reads them.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

constexpr const char* source = R"(
#include <setjmp.h>
#include <stdio.h>
__attribute__((noinline)) static int odd(int n) { return n & 1 ? printf("") + 1 : 0; }
__attribute__((noinline)) static int choose(int n) {
  switch (n) {
    case 0: return odd(n);
    case 1: return 5 + odd(n + 1);
    case 2: puts("two"); return 7;
    case 3: return odd(n) * 3;
    case 4: puts("four"); return 1;
    case 5: return odd(n) + odd(n + 1);
    default: return 0;
  }
}
int (*volatile pointer)(int) = odd;
jmp_buf begin;
int main(void) {
  if (setjmp(begin) == 0) longjmp(begin, 1);  // returns twice
  int sum = 0;
  for (int i = 0; i < 1000; i++) sum += choose(i & 3 ? 1 : i & 4 ? 5 : 3);
  for (int i = 0; i < 70; i++) sum += pointer(i);
  return sum < 0;
}
)";

class ProfileBolt : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
    const TemporaryFile code("branches.c");
    std::ofstream(code.path()) << source;
    const std::string build = "gcc -O1 -fno-inline -Wl,-q -o " + program_.path() + " " + code.path();
    ASSERT_EQ(shell(build).code(), 0) << build;
    file_ = code.path().substr(code.path().rfind('/') + 1);
  }
  std::string profile(const Words& options) {
    const TemporaryFile output("branches.out");
    const Finished run = tally(with(
        with(with({"profile", "-q", "-e", "instructions"}, options), {"-o", output.path(), "--"}), {program_.path()}));
    EXPECT_EQ(run.code(), 0) << run.err;
    return output.content().value_or("");
  }
  /// Sums the counts of the lines that have all these parts.
  static long sum(const std::string& text, const Words& parts) {
    long all = 0;
    for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
      const std::string line = text.substr(at, end - at);
      bool has_all = true;
      for (const std::string& part : parts) has_all = has_all && line.find(part) != std::string::npos;
      if (has_all) all += std::stol(line.substr(line.rfind(' ') + 1));
    }
    return all;
  }

  const TemporaryFile program_{"branches"};
  std::string file_;
};

TEST_F(ProfileBolt, counts_of_branches_calls_and_indirect_jumps) {
  const std::string text = profile({"--format", "bolt"});
  const std::string odd = "odd/" + file_ + "/1", choose = "choose/" + file_ + "/1";
  // 750 times 1, 125 times 5 (two calls), 125 times 3.
  EXPECT_EQ(sum(text, {"1 main ", "1 " + choose + " 0 "}), 1000) << text;
  EXPECT_EQ(sum(text, {"1 " + choose + " ", " 1 " + odd + " 0 "}), 750 + 250 + 125) << text;
  EXPECT_EQ(sum(text, {"1 main ", " 1 " + odd + " 0 "}), 70) << "by the pointer";
  EXPECT_EQ(sum(text, {"1 " + odd + " ", " 1 printf@PLT 0 "}), 125 + 125 + 35) << text;
  EXPECT_EQ(sum(text, {"1 puts@PLT 0 "}), 0);
  EXPECT_EQ(sum(text, {"0 [unknown] 0 1 main 0 "}), 1);
  // Three cases of the switch: reached by its indirect jump.
  EXPECT_EQ(sum(text, {"0 [unknown] 0 1 " + choose}), 0) << text;
}

TEST_F(ProfileBolt, is_read_by_bolt) {
  const std::string bolt = shell("for tool in llvm-bolt-19 llvm-bolt-16 llvm-bolt; do command -v $tool; done").out;
  if (bolt.empty()) GTEST_SKIP() << "llvm-bolt is not installed (packages bolt-16, bolt-19)";
  const std::string tool = bolt.substr(0, bolt.find('\n'));
  const TemporaryFile optimized("optimized"), fdata("branches.fdata"), ranges("branches.preagg");
  const auto optimize = [&](const std::string& options) {
    return shell(tool + " " + program_.path() + " -o " + optimized.path() + " -reorder-blocks=ext-tsp " + options +
                 " 2>&1");
  };
  std::ofstream(fdata.path()) << profile({"--format", "bolt"});
  std::ofstream(ranges.path()) << profile({"--format", "bolt-preagg"});
  for (const std::string& options : {"-data=" + fdata.path(), "-pa -p " + ranges.path()}) {
    const Finished run = optimize(options);
    EXPECT_EQ(run.code(), 0) << run.out;
    EXPECT_NE(run.out.find("have non-empty execution profile"), std::string::npos) << run.out;
    EXPECT_EQ(run.out.find("stale"), std::string::npos) << run.out;
    EXPECT_EQ(shell(optimized.path()).code(), shell(program_.path()).code());
  }
}

TEST_F(ProfileBolt, several_indirect_jumps_of_a_function) {
  // add, add, sub, add, end: each of the three jumps leads to the next one.
  const TemporaryFile code("interpreter.c");
  std::ofstream(code.path()) << R"(
__attribute__((noinline)) int interpret(const char *code) {
  static void *const labels[] = {&&add, &&sub, &&end};
  int sum = 0;
  goto *labels[(int)*code++];
add: sum += 2; goto *labels[(int)*code++];
sub: sum--; goto *labels[(int)*code++];
end: return sum;
}
int main(void) {
  int sum = 0;
  for (int i = 0; i < 700; i++) sum += interpret("\0\0\1\0\2");
  return sum != 3500;
}
)";
  ASSERT_EQ(shell("gcc -O2 -Wl,-q -o " + program_.path() + " " + code.path()).code(), 0);
  const std::string text = profile({"--format", "bolt"});
  EXPECT_EQ(sum(text, {"0 [unknown] 0 1 interpret "}), 0) << text;
  EXPECT_GE(sum(text, {"1 interpret ", " 1 interpret ", " 0 700"}), 5 * 700) << text;
}

TEST_F(ProfileBolt, functions_in_the_order_of_their_first_execution) {
  const TemporaryFile output("branches.order");
  const Finished run =
      tally({"profile", "--format", "order", "--sort", "first", "-o", output.path(), "--", program_.path()});
  ASSERT_EQ(run.code(), 0) << run.err;
  const std::string text = output.content().value_or("");
  std::size_t last = 0;
  for (const char* name : {"_start\n", "main\n", "choose\n", "odd\n", "_fini\n"}) {
    const std::size_t at = text.find(name);
    ASSERT_NE(at, std::string::npos) << name << text;
    EXPECT_GE(at, last) << name << text;
    last = at;
  }
  EXPECT_NE(run.err.find("pages of 4 KiB that the "), std::string::npos) << run.err;
  EXPECT_EQ(tally({"profile", "--sort", "first", "--", program_.path()}).code(), 2);
}

TEST_F(ProfileBolt, functions_in_the_order_of_their_instructions) {
  const std::string text = profile({"--format", "order"});
  const std::size_t main = text.find("main\n"), choose = text.find("choose\n"), odd = text.find("odd\n");
  ASSERT_NE(odd, std::string::npos) << text;
  EXPECT_LT(main, text.find("_start\n")) << text;
  EXPECT_LT(choose, text.find("_start\n")) << text;
  EXPECT_EQ(text.find("@plt"), std::string::npos) << text;
}

TEST_F(ProfileBolt, lists_files_of_the_same_name) {
  const std::string name = program_.path().substr(program_.path().rfind('/') + 1);
  const std::string folder = program_.path() + ".copy", copy = folder + "/" + name;
  ASSERT_EQ(shell("mkdir " + folder + " && echo 'int main(void) { return 0; }' | gcc -x c -g -o " + copy + " -").code(),
            0);
  const auto profile_of = [&](const std::string& object) {
    return tally({"profile", "-q", "--format", "bolt", "-o", "-", "--object", object, "--", "sh", "-c",
                  program_.path() + "; " + copy});
  };
  const Finished two = profile_of(name);
  EXPECT_EQ(two.code(), 2);
  EXPECT_NE(two.err.find("2 files have the name " + name), std::string::npos) << two.err;
  EXPECT_NE(two.err.find(copy), std::string::npos) << two.err;
  EXPECT_EQ(profile_of(copy).code(), 0);
  shell("rm -r " + folder);
}

TEST_F(ProfileBolt, names_the_missing_symbols_or_file) {
  const Finished other = tally({"profile", "-q", "--format", "bolt", "--object", "libnone.so", "--", program_.path()});
  EXPECT_NE(other.code(), 0);
  EXPECT_NE(other.err.find("the program executed no code of libnone.so"), std::string::npos) << other.err;
  ASSERT_EQ(shell("strip " + program_.path()).code(), 0);
  const Finished stripped = tally({"profile", "-q", "--format", "bolt", "--", program_.path()});
  EXPECT_NE(stripped.code(), 0);
  EXPECT_NE(stripped.err.find("has no symbols"), std::string::npos) << stripped.err;
}

// BOLT removes the symbols of the old code, which the program may still execute.
TEST_F(ProfileBolt, code_that_bolt_moved_has_the_name_of_its_section) {
  const TemporaryFile source(
      "old.c",
      "volatile int v;\n__attribute__((noinline)) static void moved(int n) { while (n--) v++; }\n"
      "int main(void) { moved(100000); return 0; }\n");
  const std::string command = "gcc -O1 -o " + program_.path() + " " + source.path() +
                              " && objcopy --rename-section .text=.bolt.org.text --strip-symbol=moved " +
                              program_.path();
  ASSERT_EQ(shell(command).code(), 0);
  const Finished run = tally({"profile", "-q", "--", program_.path()});
  EXPECT_NE(run.err.find(" [.bolt.org.text]"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("old copies of functions that BOLT moved"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace tally::test
