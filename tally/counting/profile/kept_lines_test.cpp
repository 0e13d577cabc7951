// Tests that lines are kept, and that nothing else is used in their place.
#include "tally/counting/profile/kept_lines.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tally::profile {
namespace {

namespace fs = std::filesystem;
using Query = KeptLines::Query;

constexpr KeptLines::Unit unit{0x40, 0x1000};

class KeptLinesTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tally-lines-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    folder_ = root_ / "cache";
    setenv("TALLY_CACHE_DIR", folder_.c_str(), 1);
    std::ofstream(root_ / "a.debug") << "debug information";
  }
  void TearDown() override {
    unsetenv("TALLY_CACHE_DIR");
    fs::remove_all(root_);
  }

  std::vector<DebugFile> debug_files() const {
    const std::string path = root_ / "a.debug";
    return {{path, linux::file_state(path).value()}};
  }
  void keep(const std::string& identity, std::uint64_t address, const std::string& file = "a.c") const {
    KeptLines lines(identity);
    lines.add(Query::declaration, address, {SourceLine{file, 7, 2}, unit});
    lines.keep(debug_files());
  }
  static bool is_kept(const std::string& identity, std::uint64_t address) {
    return KeptLines(identity).find(Query::declaration, address).has_value();
  }
  /// Returns the files with lines, and what writers left of them.
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    if (!fs::exists(folder_)) return found;
    for (const auto& entry : fs::directory_iterator(folder_))
      if (entry.path().filename().string().starts_with("lines-")) found.push_back(entry.path());
    return found;
  }

  fs::path root_, folder_;
};

TEST_F(KeptLinesTest, are_found_in_the_next_run) {
  keep("build", 0x100);
  {
    KeptLines lines("build");
    lines.add(Query::instruction, 0x100, {SourceLine{"b.c", 9}, {}});
    lines.add(Query::first_row, 0x200, {std::nullopt, unit});
    lines.keep(debug_files());
  }
  const KeptLines lines("build");
  const auto declaration = lines.find(Query::declaration, 0x100);
  ASSERT_TRUE(declaration);
  EXPECT_EQ(declaration->line, (SourceLine{"a.c", 7, 2}));
  EXPECT_EQ(declaration->unit, unit);
  EXPECT_EQ(lines.find(Query::instruction, 0x100)->line, (SourceLine{"b.c", 9}));
  ASSERT_TRUE(lines.find(Query::first_row, 0x200));
  EXPECT_EQ(lines.find(Query::first_row, 0x200)->line, std::nullopt);
  EXPECT_FALSE(lines.find(Query::instruction, 0x200));
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(KeptLinesTest, are_those_of_one_file) {
  keep("build 1", 0x100);
  EXPECT_TRUE(is_kept("build 1", 0x100));
  EXPECT_FALSE(is_kept("build 2", 0x100));
  EXPECT_FALSE(is_kept("build 1", 0x101));
  EXPECT_FALSE(is_kept("build 1", 0x100 | 1ull << 62));
  // Not even if the other file's lines have its name.
  keep("build 2", 0x200);
  const auto two = files();
  ASSERT_EQ(two.size(), 2u);
  fs::rename(two[0], root_ / "other");
  fs::rename(two[1], two[0]);
  fs::rename(root_ / "other", two[1]);
  EXPECT_FALSE(is_kept("build 1", 0x200));
  EXPECT_FALSE(is_kept("build 2", 0x100));
}

TEST_F(KeptLinesTest, are_read_again_if_a_debug_file_changed) {
  keep("build", 0x100);
  std::ofstream(root_ / "a.debug", std::ios::app) << "more";
  EXPECT_FALSE(is_kept("build", 0x100));
  keep("build", 0x200);
  EXPECT_TRUE(is_kept("build", 0x200));
  EXPECT_FALSE(is_kept("build", 0x100));
  fs::remove(root_ / "a.debug");
  EXPECT_FALSE(is_kept("build", 0x200));
}

TEST_F(KeptLinesTest, with_a_changed_byte_are_ignored_and_replaced) {
  keep("build", 0x100);
  const fs::path file = files().at(0);
  std::string content(fs::file_size(file), 0);
  std::ifstream(file).read(content.data(), static_cast<std::streamsize>(content.size()));
  const auto write = [&](const std::string& bytes) { std::ofstream(file, std::ios::trunc) << bytes; };
  for (std::size_t i = 0; i < content.size(); ++i) {
    std::string damaged = content;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    write(damaged);
    EXPECT_FALSE(is_kept("build", 0x100)) << i;
    write(content.substr(0, i));
    EXPECT_FALSE(is_kept("build", 0x100)) << i;
  }
  write(content + "12345678");
  EXPECT_FALSE(is_kept("build", 0x100));
  keep("build", 0x100);
  EXPECT_TRUE(is_kept("build", 0x100));
}

TEST_F(KeptLinesTest, that_others_may_write_are_ignored) {
  keep("build", 0x100);
  const fs::path file = files().at(0);
  chmod(file.c_str(), 0666);
  EXPECT_FALSE(is_kept("build", 0x100));
  keep("build", 0x100);
  EXPECT_TRUE(is_kept("build", 0x100));
  chmod(folder_.c_str(), 0777);
  EXPECT_FALSE(is_kept("build", 0x100));
  chmod(folder_.c_str(), 0700);
  if (geteuid() != 0) return;
  ASSERT_EQ(chown(file.c_str(), 12345, 0), 0);
  EXPECT_FALSE(is_kept("build", 0x100));
}

TEST_F(KeptLinesTest, of_another_key_are_ignored) {
  keep("build", 0x100);
  const fs::path file = files().at(0);
  fs::rename(file, root_ / "foreign");
  fs::remove_all(folder_);
  keep("build", 0x200);
  const fs::path own = files().at(0);
  EXPECT_NE(own.filename(), file.filename());
  fs::rename(root_ / "foreign", own);
  EXPECT_FALSE(is_kept("build", 0x100));
}

TEST_F(KeptLinesTest, need_a_directory_and_an_identity) {
  setenv("TALLY_CACHE_DIR", "", 1);
  keep("build", 0x100);
  EXPECT_FALSE(is_kept("build", 0x100));
  setenv("TALLY_CACHE_DIR", folder_.c_str(), 1);
  keep("", 0x100);
  EXPECT_EQ(files().size(), 0u);
}

TEST_F(KeptLinesTest, on_a_full_disk_stay_as_they_were) {
  keep("build", 0x100);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{64, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  keep("build", 0x200);
  keep("other build", 0x100);
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_TRUE(is_kept("build", 0x100));
  EXPECT_FALSE(is_kept("build", 0x200));
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(KeptLinesTest, of_killed_writers_are_whole_or_absent) {
  keep("build", 0x1);
  for (int round = 0; round < 40; ++round) {
    std::vector<pid_t> writers;
    for (int i = 0; i < 4; ++i) {
      const pid_t writer = fork();
      if (writer == 0)
        for (std::uint64_t at = 2;; ++at) keep("build", at);
      writers.push_back(writer);
    }
    usleep(static_cast<useconds_t>(500 + 97 * round));
    for (const pid_t writer : writers) kill(writer, SIGKILL);
    for (const pid_t writer : writers) waitpid(writer, nullptr, 0);
    EXPECT_TRUE(is_kept("build", 0x1));
  }
  keep("build", 0x0);
  EXPECT_EQ(files().size(), 1u);  // no temporary names of dead writers
}

TEST_F(KeptLinesTest, take_a_limited_amount_of_disk) {
  // Each takes some 4 MB.
  const std::string file(4096, 'x');
  for (int build = 0; build < 20; ++build) {
    KeptLines lines("build " + std::to_string(build));
    for (std::uint64_t at = 0; at < 1000; ++at)
      lines.add(Query::instruction, at, {SourceLine{file + std::to_string(at), 1}, {}});
    lines.keep(debug_files());
    // Used again: stays.
    EXPECT_TRUE(KeptLines("build 0").find(Query::instruction, 0)) << build;
  }
  std::uint64_t bytes = 0;
  for (const fs::path& one : files()) bytes += fs::file_size(one);
  EXPECT_LE(bytes, 64u << 20);
  EXPECT_GT(bytes, 50u << 20);
  EXPECT_TRUE(KeptLines("build 19").find(Query::instruction, 0));
  EXPECT_FALSE(KeptLines("build 1").find(Query::instruction, 0));
}

TEST_F(KeptLinesTest, of_one_file_that_become_too_many_are_those_of_the_last_run) {
  const auto add = [&](std::uint64_t from) {
    KeptLines lines("build");
    for (std::uint64_t at = from; at < from + 400'000; ++at)
      lines.add(Query::instruction, at, {SourceLine{"a.c", 1}, {}});
    lines.keep(debug_files());
  };
  add(0);
  add(1'000'000);
  const KeptLines lines("build");
  EXPECT_FALSE(lines.find(Query::instruction, 0));
  EXPECT_TRUE(lines.find(Query::instruction, 1'000'000));
}

}  // namespace
}  // namespace tally::profile
