// git_commit() on repositories made of files, because the tests must not need git.
#include "tally/linux/files/git.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace tally::linux {
namespace {

namespace fs = std::filesystem;

const std::string one(40, 'a'), two(40, 'b'), three(64, 'c');

class GitCommit : public testing::Test {
 protected:
  GitCommit() {
    std::string pattern = (fs::temp_directory_path() / "tally-git-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
  }
  ~GitCommit() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  std::string commit(const std::string& folder = "") const { return git_commit((root_ / folder).string()); }

  fs::path root_;
};

TEST_F(GitCommit, of_a_branch_and_in_directories_below) {
  write(".git/HEAD", "ref: refs/heads/main\n");
  EXPECT_EQ(commit(), "");  // before the first commit
  write(".git/refs/heads/main", one + "\n");
  write("a/b/file", "");
  EXPECT_EQ(commit(), one);
  EXPECT_EQ(commit("a/b"), one);
}

TEST_F(GitCommit, of_a_detached_head) {
  write(".git/HEAD", two + "\n");
  EXPECT_EQ(commit(), two);
  write(".git/HEAD", three + "\n");  // SHA-256
  EXPECT_EQ(commit(), three);
}

TEST_F(GitCommit, of_packed_refs) {
  write(".git/HEAD", "ref: refs/heads/main\n");
  write(".git/packed-refs", "# pack-refs with: peeled fully-peeled sorted\n" + one + " refs/heads/main2\n" + two +
                                " refs/heads/main\n^" + one + "\n");
  EXPECT_EQ(commit(), two);
  write(".git/refs/heads/main", one + "\n");  // newer than the packed one
  EXPECT_EQ(commit(), one);
}

TEST_F(GitCommit, of_a_linked_worktree) {
  write("main/.git/HEAD", "ref: refs/heads/main\n");
  write("main/.git/refs/heads/main", one);
  write("main/.git/refs/heads/topic", two);
  write("main/.git/worktrees/tree/HEAD", "ref: refs/heads/topic\n");
  write("main/.git/worktrees/tree/commondir", "../..\n");
  write("tree/.git", "gitdir: " + (root_ / "main/.git/worktrees/tree").string() + "\n");
  EXPECT_EQ(commit("tree"), two);
  EXPECT_EQ(commit("main"), one);
  write("below/.git", "gitdir: ../main/.git/worktrees/tree\n");
  EXPECT_EQ(commit("below"), two);
}

TEST_F(GitCommit, is_only_ever_a_hash) {
  write("secret", "not a hash\n");
  write(".git/HEAD", "ref: ../secret\n");
  EXPECT_EQ(commit(), "");
  write(".git/HEAD", "ref: refs/heads/../../../secret\n");
  EXPECT_EQ(commit(), "");
  write(".git/HEAD", "ref: refs/heads/main\n");
  write(".git/refs/heads/main", "not a hash\n");
  EXPECT_EQ(commit(), "");
  write(".git/refs/heads/main", "ref: refs/heads/main\n");  // a ring
  EXPECT_EQ(commit(), "");
  write(".git/HEAD", std::string(1 << 20, 'a'));
  EXPECT_EQ(commit(), "");
}

// Opening a pipe for reading would wait for a writer.
TEST_F(GitCommit, does_not_wait_for_a_pipe) {
  write(".git/refs/heads/main", one);
  ASSERT_EQ(mkfifo((root_ / ".git/HEAD").c_str(), 0600), 0);
  EXPECT_EQ(commit(), "");
}

TEST_F(GitCommit, is_empty_outside_a_repository) { EXPECT_EQ(git_commit("/proc"), ""); }

}  // namespace
}  // namespace tally::linux
