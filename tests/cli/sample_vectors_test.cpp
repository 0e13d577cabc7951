// `tally sample --bbv`: the blocks of code that each window ran; and windows by code that an earlier run stored.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The vectors of a file: for each line the blocks with their instructions.
std::vector<std::map<long, long>> vectors_of(const std::string& path) {
  std::vector<std::map<long, long>> all;
  std::istringstream lines(read_file(path));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    EXPECT_EQ(line[0], 'T') << line;
    std::map<long, long> vector;
    std::istringstream parts(line.substr(1));
    for (std::string part; parts >> part;) {
      long block = 0, count = 0;
      EXPECT_EQ(std::sscanf(part.c_str(), ":%ld:%ld", &block, &count), 2) << part;
      EXPECT_GT(block, 0);
      EXPECT_GT(count, 0);
      EXPECT_TRUE(vector.emplace(block, count).second) << "twice: " << block;
    }
    all.push_back(std::move(vector));
  }
  return all;
}

/// The column of a CSV file, without its header.
std::vector<std::string> column(const std::string& csv, const std::string& name) {
  std::vector<std::string> made;
  std::istringstream lines(csv);
  std::size_t place = 0;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream parts(line);
    for (std::string cell; std::getline(parts, cell, ',');) cells.push_back(cell);
    if (made.empty() && place == 0) {
      place = static_cast<std::size_t>(std::find(cells.begin(), cells.end(), name) - cells.begin());
      EXPECT_LT(place, cells.size()) << line;
      continue;
    }
    made.push_back(cells.at(place));
  }
  return made;
}

class Vectors : public testing::Test {
 protected:
  void SetUp() override {
#if !TALLY_HAS_ENGINE
    GTEST_SKIP() << "the engine is for x86-64";
#endif
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  Finished sample(const Words& more) const {
    return tally(with({"sample", "-q", "-o", path("w.csv"), "--bbv", path("w.bb")}, more));
  }

  std::string folder_ = testing::TempDir() + "tally-vectors-" + std::to_string(getpid());
};

TEST_F(Vectors, add_up_to_the_windows) {
  const Words ways[] = {{"--every", "1000"},
                        {"--every", "1"},
                        {"--every", "1000", "--by", "branches"},
                        {"--every", "1000", "--block-size", "1"},
                        {"--every", "1000", "--cache-limit", "20"},
                        {"--every", "1000", "--hot-from", "10"}};
  for (const Words& way : ways) {
    SCOPED_TRACE(way.back());
    const Finished finished = sample(with(way, {"-e", "instructions", "--", PROFILED}));
    ASSERT_EQ(finished.code(), 0) << finished.err;
    const auto vectors = vectors_of(path("w.bb"));
    const auto lengths = column(read_file(path("w.csv")), "instructions:u");
    ASSERT_EQ(vectors.size(), lengths.size());
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      long sum = 0;
      for (const auto& [block, count] : vectors[i]) sum += count;
      ASSERT_EQ(std::to_string(sum), lengths[i]) << "window " << i + 1;
    }
  }
}

TEST_F(Vectors, distinguish_loops) {
  // A thousand calls of eleven() are one block, again and again.
  ASSERT_EQ(sample({"--every", "1000", "--", PROFILED}).code(), 0);
  std::map<long, int> whole;  // blocks that most of a window was
  for (const auto& vector : vectors_of(path("w.bb")))
    for (const auto& [block, count] : vector)
      if (count > 700) ++whole[block];
  EXPECT_EQ(whole.size(), 1u);
  EXPECT_GE(whole.begin()->second, 9);
}

TEST_F(Vectors, of_threads_and_children_have_files_of_their_own) {
  const Finished finished =
      tally({"sample", "-o", path("w.csv"), "--bbv", path("w.bb"), "--every", "500", "--", PROFILED, "threads"});
  ASSERT_EQ(finished.code(), 0) << finished.err;
  EXPECT_NE(finished.err.find("vectors of 3 threads"), std::string::npos) << finished.err;
  std::size_t vectors = 0;
  for (const char* name : {"w.bb", "w.bb.2", "w.bb.3"}) vectors += vectors_of(path(name)).size();
  EXPECT_EQ(vectors, column(read_file(path("w.csv")), "instructions:u").size());
  ASSERT_EQ(sample({"--every", "500", "--", PROFILED, "fork"}).code(), 0);
  EXPECT_FALSE(vectors_of(path("w.bb.2")).empty());
}

TEST_F(Vectors, of_a_killed_program_are_there) {
  ASSERT_EQ(
      sample({"--every", "200", "--", "/bin/sh", "-c", "i=0; while [ $i -lt 99 ]; do i=$((i+1)); done; kill -9 $$"})
          .code(),
      128 + 9);
  const auto rows = column(read_file(path("w.csv")), "instructions:u");
  EXPECT_GE(vectors_of(path("w.bb")).size() + 1, rows.size()) << "everything until the kill";
}

TEST_F(Vectors, make_the_phases_of_a_page) {
  ASSERT_EQ(sample({"--every", "500", "--", PROFILED}).code(), 0);
  const Finished page = tally({"report", path("w.csv"), "--bbv", path("w.bb"), "-o", path("page.html")});
  ASSERT_EQ(page.code(), 0) << page.err;
  EXPECT_NE(read_file(path("page.html")).find("windows that ran the same code"), std::string::npos);
  std::ofstream(path("w.bb"), std::ios::app) << "T:1:1\n";
  const Finished many = tally({"report", path("w.csv"), "--bbv", path("w.bb"), "-o", path("page.html")});
  EXPECT_EQ(many.code(), 2);
  EXPECT_NE(many.err.find("vectors, but thread"), std::string::npos) << many.err;
  std::ofstream(path("w.bb")) << "T:1:1 :x\n";
  const Finished none = tally({"report", path("w.csv"), "--bbv", path("w.bb"), "-o", path("page.html")});
  EXPECT_EQ(none.code(), 2);
  EXPECT_NE(none.err.find("line 1"), std::string::npos) << none.err;
}

TEST_F(Vectors, are_refused_without_the_engine) {
  const Finished same = tally({"sample", "--every", "5", "-o", path("x"), "--bbv", path("x"), "--", "true"});
  EXPECT_EQ(same.code(), 2);
  EXPECT_NE(same.err.find("name the same file"), std::string::npos) << same.err;
  const Finished natively = tally({"sample", "--every", "1", "--by", "page-faults", "--backend", "perf", "-e",
                                   "page-faults", "--bbv", path("x"), "--", "true"});
  EXPECT_NE(natively.code(), 0);
}

/// Rows are the same with code that was just translated and with code that an earlier run stored, whatever length the
/// windows had then.
TEST_F(Vectors, and_rows_are_the_same_with_stored_code) {
  const auto run = [&](const std::string& every, const std::string& cache, const std::string& name) {
    const std::string command = "TALLY_CACHE_DIR=" + cache + " " + TALLY_COMMAND + " sample -q --every " + every +
                                " -e instructions,branches,loads,stores -o " + path(name) + " --bbv " + path(name) +
                                ".bb -- sort --parallel=1 /etc/passwd >" + path("out");
    return Running({"/bin/sh", "-c", command}).finish().code();
  };
  ASSERT_EQ(run("700", path("one"), "new"), 0);
  ASSERT_EQ(run("5000", path("two"), "other"), 0);
  ASSERT_EQ(run("700", path("two"), "kept"), 0);
  ASSERT_EQ(run("700", path("two"), "again"), 0);
  // Differences between two runs of one program, above all addresses, move the beginning by some instructions at most.
  for (const char* name : {"kept", "again"})
    EXPECT_NEAR(static_cast<double>(column(read_file(path("new")), "loads:u").size()),
                static_cast<double>(column(read_file(path(name)), "loads:u").size()), 2);
  for (const char* name : {"kept", "again"}) {
    const auto vectors = vectors_of(path(std::string(name) + ".bb"));
    const auto lengths = column(read_file(path(name)), "instructions:u");
    ASSERT_EQ(vectors.size(), lengths.size());
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      long sum = 0;
      for (const auto& [block, count] : vectors[i]) sum += count;
      ASSERT_EQ(std::to_string(sum), lengths[i]) << name << ", window " << i + 1;
      if (i + 1 < vectors.size()) {
        EXPECT_EQ(sum, 700);
      }
    }
  }
}

/// A window whose line SimPoint cannot read is reported, even with --quiet.
TEST_F(Vectors, reports_a_window_that_is_too_long_for_simpoint) {
  std::string text = ".globl _start\n_start:\n";
  for (int i = 0; i < 130'000; ++i) text += " test %eax,%eax\n jz 1f\n1:\n";
  text += " mov $60,%eax\n xor %edi,%edi\n syscall\n";
  const TemporaryFile source("blocks.s", text), program("blocks"), vectors("blocks.bb"), rows("rows.csv");
  const Finished built =
      Running({"/bin/sh", "-c", "gcc -nostdlib -static -o " + program.path() + " " + source.path()}).finish();
  if (built.code() != 0) GTEST_SKIP() << "gcc builds nothing here: " << built.err;
  const Finished long_one =
      tally({"sample", "-q", "--every", "1G", "--bbv", vectors.path(), "-o", rows.path(), "--", program.path()});
  EXPECT_EQ(long_one.code(), 0) << long_one.err;
  EXPECT_NE(long_one.err.find("lines of 1,048,575 bytes"), std::string::npos) << long_one.err;
  EXPECT_NE(long_one.err.find("window 1 of blocks"), std::string::npos) << long_one.err;
  const Finished short_one =
      tally({"sample", "-q", "--every", "50k", "--bbv", vectors.path(), "-o", rows.path(), "--", program.path()});
  EXPECT_EQ(short_one.err, "");
}

}  // namespace
}  // namespace tally::test
