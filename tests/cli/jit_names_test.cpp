// Names of code that compilers generate at run time: node, Java, LuaJIT, Python 3.12, and files that must not be
// believed.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

bool exists(const std::string& path) { return std::filesystem::exists(path); }

// All rows of a profile of a program, in a directory of its own.
std::string rows_of(const std::string& folder, const Words& program, const Words& options = {}) {
  Words words{"/usr/bin/env", "-C",     folder, TALLY_COMMAND,  "profile", "-q",
              "--backend",    "engine", "-e",   "instructions", "--top",   "0"};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), program.begin(), program.end());
  const Finished finished = Running(words).finish();
  EXPECT_EQ(finished.code(), 0) << finished.err.substr(0, 2000);
  return finished.err;
}

const char* const fibonacci_js =
    "const fibonacci = n => (n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2));\nconsole.log(fibonacci(22));\n";

TEST(JitNames, NodeWritesAMap) {
  if (!exists("/usr/bin/node")) GTEST_SKIP() << "node is missing";
  const TemporaryFile script("a.js", fibonacci_js);
  const std::string rows = rows_of(
      script.folder(), {"/usr/bin/node", "--perf-basic-prof", "--interpreted-frames-native-stack", script.path()});
  EXPECT_TRUE(holds(rows, "fibonacci " + script.path() + ":1")) << rows.substr(0, 3000);
}

TEST(JitNames, NodeWritesADump) {
  if (!exists("/usr/bin/node")) GTEST_SKIP() << "node is missing";
  const TemporaryFile script("a.js", fibonacci_js);
  const std::string rows = rows_of(script.folder(), {"/usr/bin/node", "--perf-prof", script.path()});
  EXPECT_TRUE(holds(rows, "fibonacci " + script.path() + ":1")) << rows.substr(0, 3000);
}

// A window is named by what the map contains when tally reads the window: node may write a line later.
TEST(JitNames, WindowsOfNode) {
  if (!exists("/usr/bin/node")) GTEST_SKIP() << "node is missing";
  const TemporaryFile script("a.js", fibonacci_js);
  bool is_named = false;
  for (int i = 0; i < 5 && !is_named; ++i) {
    const TemporaryFile rows("rows.csv");
    const Finished finished =
        tally({"sample", "-q", "--backend", "engine", "--every", "20000", "-e", "instructions", "--where", "-o",
               rows.path(), "--", "/usr/bin/node", "--perf-basic-prof", script.path()});
    EXPECT_EQ(finished.code(), 0) << finished.err;
    is_named = holds(rows.content().value_or(""), "fibonacci ");
  }
  EXPECT_TRUE(is_named);
}

TEST(JitNames, JavaWritesAMapAtItsEnd) {
  if (!exists("/usr/bin/java") || !exists("/usr/bin/javac")) GTEST_SKIP() << "java or javac is missing";
  const TemporaryFile source(
      "Hot.java",
      "public class Hot {\n"
      "  static int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }\n"
      "  public static void main(String[] a) { System.out.println(fibonacci(27)); }\n"
      "}\n");
  const Finished compiled = Running({"/usr/bin/javac", source.path()}).finish();
  if (compiled.code() != 0) GTEST_SKIP() << "javac: " << compiled.err;
  const std::string rows =
      rows_of(source.folder(), {"/usr/bin/java", "-XX:+UseSerialGC", "-XX:+UnlockDiagnosticVMOptions",
                                "-XX:+DumpPerfMapAtExit", "-cp", source.folder(), "Hot"});
  if (holds(rows, "Unrecognized VM option")) GTEST_SKIP() << "this Java has no DumpPerfMapAtExit";
  EXPECT_TRUE(holds(rows, "Hot.fibonacci")) << rows.substr(0, 3000);
}

TEST(JitNames, LuaJitWithTheExample) {
  if (!exists("/usr/bin/luajit")) GTEST_SKIP() << "luajit is missing";
  const TemporaryFile script("hot.lua",
                             "local function work(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end\n"
                             "print(work(300000))\n");
  const std::string rows = rows_of(script.folder(), {"/usr/bin/env", "LUA_PATH=" EXAMPLES "/?.lua;;", "/usr/bin/luajit",
                                                     "-lperfmap", script.path()});
  EXPECT_TRUE(holds(rows, "lua: hot.lua:1, trace")) << rows.substr(0, 3000);
}

TEST(JitNames, ADumpOfAnotherUserIsNotBelieved) {
  if (!exists("/usr/bin/node") || geteuid() != 0) GTEST_SKIP() << "it needs node and root";
  // The process of this dump is a shell that gives its dump away and then becomes node.
  const TemporaryFile script("a.js", fibonacci_js);
  const std::string command =
      "cd " + script.folder() +
      " && /usr/bin/node --perf-prof -e 'process.on(\"exit\", () => "
      "require(\"fs\").chownSync(\"jit-\" + process.pid + \".dump\", 12345, 12345)); require(\"" +
      script.path() + "\")'";
  const std::string rows = rows_of(script.folder(), {"/bin/sh", "-c", command});
  EXPECT_FALSE(holds(rows, "fibonacci " + script.path())) << rows.substr(0, 3000);
  EXPECT_TRUE(holds(rows, "of user 12345: it belongs neither to you nor to root nor to the process")) << rows;
}

}  // namespace
}  // namespace tally::test
