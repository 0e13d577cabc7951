// How the programs are linked, as checksec(1) checks them, and the licence notices of the libraries in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;

std::string readelf(const std::string& options, const std::string& file) {
  return Running({"/bin/sh", "-c", "LC_ALL=C readelf " + options + " -W " + file}).finish().out;
}

// The programs that were built; some need libraries that may be missing.
std::vector<std::string> programs() {
  std::vector<std::string> found;
  for (const char* name : {"tally", "tally-callgrind", "tally-discover", "tally-doctor", "tally-lab", "tally-memory",
                           "tally-rdpmc", "tally-register", "tally-results", "tally-verify", "tally-watch",
                           "tally-serve", "tally-stepper", "libtally.so"})
    if (const std::string file = std::string(TALLY_BUILD) + "/" + name; fs::exists(file)) found.push_back(file);
  return found;
}

class Binaries : public testing::Test {
 protected:
  void SetUp() override {
    if (readelf("-h", programs().at(0)).empty()) GTEST_SKIP() << "readelf is not installed (package binutils)";
  }
};

TEST_F(Binaries, are_hardened) {
  if (!TALLY_IS_HARDENED) GTEST_SKIP() << "built with sanitizers";
  for (const std::string& file : programs()) {
    SCOPED_TRACE(file);
    const std::string head = readelf("-h", file), parts = readelf("-l", file), dynamic = readelf("-d", file);
    EXPECT_TRUE(holds(head, "DYN (")) << "its load address is not fixed: " << head;
    EXPECT_TRUE(holds(dynamic, "BIND_NOW") || holds(dynamic, "Flags: NOW")) << dynamic;
    EXPECT_TRUE(holds(parts, "GNU_RELRO"));
    std::istringstream lines(parts);
    for (std::string line; std::getline(lines, line);) {
      if (holds(line, "GNU_STACK")) EXPECT_FALSE(holds(line, "RWE")) << line;
      if (holds(line, "LOAD")) EXPECT_FALSE(holds(line, "RWE")) << line;
    }
    const std::string symbols = readelf("-s", file);
    EXPECT_TRUE(holds(symbols, "__stack_chk_fail"));
    // The library copies nothing whose size is known only at run time.
    if (!file.ends_with(".so")) EXPECT_TRUE(holds(symbols, "_chk@") || holds(symbols, "_chk\n"));
  }
}

// They take half of the start of the command otherwise.
TEST_F(Binaries, relocate_the_tables_of_libpfm4_when_a_name_needs_them) {
  const std::string file = programs().at(0);
  if (!holds(readelf("-S", file), "libpfm_tables")) GTEST_SKIP() << "not built so: cmake/deferred.cmake";
  std::istringstream lines(readelf("-d", file));
  std::size_t bytes = 0;
  for (std::string line; std::getline(lines, line);)
    if (const auto at = line.find("(RELASZ)"); at != std::string::npos) bytes = std::stoul(line.substr(at + 8));
  constexpr std::size_t of_one = 24;
  EXPECT_GT(bytes / of_one, 1'000u);
  EXPECT_LT(bytes / of_one, 20'000u);
  EXPECT_TRUE(holds(tally({"event", "hsw::UOPS_RETIRED:ALL"}).out, "config 0x1c2"));
}

// Libraries by the beginnings of their names; the C library and the compiler have several.
const std::map<std::string, std::string> notices = {{"libZydis", "zydis"},
                                                    {"libZycore", "zydis"},
                                                    {"libunicorn", "unicorn"},
                                                    {"libedit", "libedit"},
                                                    {"libpfm", "libpfm4"},
                                                    {"libc.", "glibc"},
                                                    {"libm.", "glibc"},
                                                    {"ld-linux", "glibc"},
                                                    {"libgcc", "gcc-runtime"},
                                                    {"libstdc++", "gcc-runtime"},
                                                    {"libprometheus", "prometheus-cpp"},
                                                    {"libtinfo", "ncurses"},
                                                    {"libncurses", "ncurses"},
                                                    {"libfmt", "fmt"},
                                                    {"libdw", "elfutils"},
                                                    {"libelf", "elfutils"},
                                                    {"libz.", "zlib"},
                                                    {"liblzma", "xz"},
                                                    {"libbz2", "bzip2"}};

TEST_F(Binaries, have_a_notice_for_each_library) {
  for (const std::string& file : programs()) {
    std::istringstream lines(readelf("-d", file));
    for (std::string line; std::getline(lines, line);) {
      if (!holds(line, "(NEEDED)")) continue;
      const std::string library = line.substr(line.find('[') + 1);
      const auto known =
          std::find_if(notices.begin(), notices.end(), [&](const auto& one) { return library.starts_with(one.first); });
      ASSERT_NE(known, notices.end()) << file << " is linked with " << library << ": add its notice to licences/";
      EXPECT_TRUE(fs::exists(std::string(TALLY_LICENCES) + "/" + known->second + ".txt")) << library;
    }
  }
}

// The GPL 2 of one library and the GPL 3 of the other are incompatible.
TEST_F(Binaries, no_program_has_unicorn_and_readline) {
  for (const std::string& file : programs()) {
    const std::string dynamic = readelf("-d", file);
    EXPECT_FALSE(holds(dynamic, "libreadline")) << file;
  }
}

}  // namespace
}  // namespace tally::test
