// `tally --version`, and where the build finds the commit.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;

TEST(Version, is_the_first_line_and_the_build_is_below) {
  const Finished finished = tally({"--version"});
  EXPECT_EQ(finished.out.find("tally " TALLY_VERSION "\n"), 0u) << finished.out;
  EXPECT_NE(finished.out.find("\nbuild: "), std::string::npos) << finished.out;
}

/// A source directory with the script that finds the commit.
class Commit : public testing::Test {
 protected:
  Commit() : source_("source") { fs::create_directories(source_.path() + "/cmake"); }

  void write_commit_file(const std::string& text) const { std::ofstream(source_.path() + "/cmake/commit.txt") << text; }

  std::string generated() const {
    const std::string output = source_.folder() + "/commit.cpp";
    const Finished finished = Running({TALLY_CMAKE, "-D", "source=" + source_.path(), "-D", "output=" + output, "-P",
                                       TALLY_SOURCE "/cmake/commit.cmake"})
                                  .finish();
    EXPECT_EQ(finished.code(), 0) << finished.err;
    return TemporaryFile::read(output).value_or("");
  }

  TemporaryFile source_;
};

TEST_F(Commit, is_written_by_git_archive) {
  write_commit_file("0123456789abcdef0123456789abcdef01234567\n");
  EXPECT_NE(generated().find("return \"0123456789ab\";"), std::string::npos) << generated();
}

TEST_F(Commit, is_empty_if_unknown) {
  const std::string unfilled = TemporaryFile::read(TALLY_SOURCE "/cmake/commit.txt").value_or("");
  write_commit_file(unfilled);
  if (unfilled.find("Format") == std::string::npos) GTEST_SKIP() << "the sources come from git archive";
  EXPECT_NE(generated().find("return \"\";"), std::string::npos) << generated();
}

TEST_F(Commit, is_the_head_of_a_repository) {
  write_commit_file("0123456789abcdef0123456789abcdef01234567\n");
  const auto git = [&](const std::string& words) {
    return Running({"/bin/sh", "-c",
                    "cd \"$0\" && git -c user.name=a -c user.email=a@example.org -c commit.gpgsign=false " + words,
                    source_.path()})
        .finish();
  };
  ASSERT_EQ(git("init -q").code(), 0);
  ASSERT_EQ(git("commit -q --allow-empty -m first").code(), 0);
  const std::string head = git("rev-parse HEAD").out.substr(0, 12);
  EXPECT_NE(generated().find("return \"" + head + "\";"), std::string::npos) << generated();
}

}  // namespace
}  // namespace tally::test
