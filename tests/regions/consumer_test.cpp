// Projects of others, built against the installed tree: by CMake's find_package, by pkg-config, in C++ and in C.
#include <gtest/gtest.h>

#include <string>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

// Installed once for all of the tests, and moved.
class Consumer : public testing::Test {
 public:
  static void SetUpTestSuite() {
    place = new TemporaryFile("installed");
    const std::string first = place->folder() + "/first";
    run_checked({TALLY_CMAKE, "--install", TALLY_BUILD, "--prefix", first});
    run_checked({"/usr/bin/env", "mv", first, place->path()});
  }
  static void TearDownTestSuite() { delete place; }

  static std::string run_checked(const Words& words) {
    const Finished finished = Running(words).finish();
    EXPECT_EQ(finished.code(), 0) << finished.out << finished.err;
    return finished.out;
  }

  static std::string shell(const std::string& script) { return run_checked({"/bin/sh", "-ec", script}); }

  // The program's output, started as its user does; CMake's programs contain the path of the library.
  static void expect_regions(const std::string& command, const std::string& region) {
    const Finished finished = Running({"/bin/sh", "-c", "TALLY_EVENTS=page-faults " + command}).finish();
    if (finished.code() == 77) GTEST_SKIP() << finished.out;
    EXPECT_EQ(finished.code(), 0) << finished.out << finished.err;
    EXPECT_NE((finished.out + finished.err).find(region + ": 1 entry\n"), std::string::npos)
        << finished.out << finished.err;
  }

  static TemporaryFile* place;
};
TemporaryFile* Consumer::place;

TEST_F(Consumer, finds_the_package) {
  const std::string build = place->folder() + "/build";
  run_checked({TALLY_CMAKE, "-S", CONSUMER, "-B", build, "-DCMAKE_PREFIX_PATH=" + place->path()});
  run_checked({TALLY_CMAKE, "--build", build});
  expect_regions(build + "/cpp", "by C++");
  expect_regions(build + "/c", "within");
}

TEST_F(Consumer, uses_pkg_config) {
  const std::string configured = "PKG_CONFIG_PATH=$(dirname $(find " + place->path() + " -name tally.pc)) pkg-config ";
  const std::string flags = "$(" + configured + "--cflags --libs tally)";
  const std::string library = shell(configured + "--variable=libdir tally");
  const std::string there = "LD_LIBRARY_PATH=" + library.substr(0, library.find('\n')) + " ";
  const std::string program = place->folder() + "/program";
  const std::string sources = std::string(CONSUMER) + "/consumer";
  shell("g++ -std=c++20 -Wall -Wextra -Werror " + sources + ".cpp " + flags + " -o " + program);
  expect_regions(there + program, "by C++");
  shell("gcc -Wall -Wextra -Werror " + sources + ".c " + flags + " -o " + program);
  expect_regions(there + program, "by C");
}

TEST_F(Consumer, gets_an_error_with_an_older_standard) {
  const Finished finished = Running({"/usr/bin/env", "g++", "-std=c++17", "-fsyntax-only",
                                     "-I" + place->path() + "/include", std::string(CONSUMER) + "/consumer.cpp"})
                                .finish();
  EXPECT_NE(finished.code(), 0);
  EXPECT_NE(finished.err.find("tally/tally.hpp needs C++20: -std=c++20"), std::string::npos) << finished.err;
}

}  // namespace
}  // namespace tally::test
