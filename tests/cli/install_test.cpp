// The installed tree: with another prefix, and after it was moved.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;

TEST(Install, works_from_another_prefix_and_when_it_was_moved) {
  const TemporaryFile place("installed");
  const Finished installed = Running({TALLY_CMAKE, "--install", TALLY_BUILD, "--prefix", place.path()}).finish();
  ASSERT_EQ(installed.code(), 0) << installed.out << installed.err;
  for (const char* file :
       {"bin/tally", "share/man/man1/tally.1", "share/man/man1/tally-stat.1", "share/bash-completion/completions/tally",
        "share/zsh/site-functions/_tally", "share/fish/vendor_completions.d/tally.fish", "share/doc/tally/LICENSE",
        "share/doc/tally/licences/README.md", "share/doc/tally/licences/elfutils.txt"}) {
    EXPECT_TRUE(fs::exists(place.path() + "/" + file)) << file << "\n" << installed.out;
  }
  if (const auto unit = TemporaryFile::read(place.path() + "/lib/systemd/system/tally-serve.service")) {
    EXPECT_NE(unit->find("ExecStart=" + place.path() + "/bin/tally serve\n"), std::string::npos) << *unit;
  }
  const std::string moved = place.folder() + "/moved";
  fs::rename(place.path(), moved);
  const std::string link = place.folder() + "/link";
  fs::create_symlink(moved + "/bin/tally", link);
  // From a folder without an engine, by its path and through a link.
  for (const std::string& command : {moved + "/bin/tally", link}) {
    const Finished finished =
        Running({"/bin/sh", "-c", "cd / && exec \"$0\" stat -q -e instructions,page-faults -- true", command}).finish();
    EXPECT_EQ(finished.code(), 0) << finished.err;
#if TALLY_HAS_ENGINE
    EXPECT_NE(finished.err.find("· engine"), std::string::npos) << finished.err;
    EXPECT_NE(finished.err.find("exact"), std::string::npos) << finished.err;
#endif
  }
#if TALLY_HAS_ENGINE
  EXPECT_FALSE(fs::exists(moved + "/bin/valgrind"));
  const Finished front = Running({moved + "/libexec/tally/valgrind", "-q", "--tool=callgrind",
                                  "--callgrind-out-file=" + place.folder() + "/out", "true"})
                             .finish();
  EXPECT_EQ(front.code(), 0) << front.err;
  EXPECT_TRUE(fs::exists(place.folder() + "/out"));
  fs::remove_all(moved + "/libexec");
  const Finished without = Running({moved + "/bin/tally", "stat", "-q", "-e", "instructions", "--", "true"}).finish();
  EXPECT_EQ(without.code(), 125) << "the engine of the build tree must not be the one that was used: " << without.err;
#endif
  // Without programs of their own, their commands say what to install, and man pages and completion leave them out.
  fs::remove_all(moved + "/libexec");
  for (const char* name : {"lab", "memory", "serve"}) {
    const Finished missing = Running({moved + "/bin/tally", name, "--help"}).finish();
    EXPECT_EQ(missing.code(), 125) << name;
    EXPECT_NE(missing.err.find("build"), std::string::npos) << missing.err;
  }
  const Words completion{moved + "/bin/tally", "--print-bash-completion"};
  EXPECT_EQ(Running(completion).finish().out.find("memory)"), std::string::npos);
  EXPECT_EQ(Running({moved + "/bin/tally", "--print-man", "memory"}).finish().out, "");
}

}  // namespace
}  // namespace tally::test
