#include "tally/linux/process/region_handoff.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

namespace tally::linux {
namespace {

namespace fs = std::filesystem;

std::string prefix_of(pid_t pid) { return fmt::format("tally-regions-{}-{}-", geteuid(), pid); }

/// Returns the directories of a process.
std::vector<fs::path> folders_of(pid_t pid) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator("/dev/shm")) {
    if (entry.path().filename().string().starts_with(prefix_of(pid))) found.push_back(entry.path());
  }
  return found;
}

/// A process that has a directory with content, until it is killed.
class Owner {
 public:
  Owner() {
    int ready[2];
    if (pipe(ready) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      const auto mine = Gathering::open();
      if (!mine || !hand_over(folders_of(getpid()).front(), "a region")) _exit(1);
      (void)!write(ready[1], "r", 1);
      for (;;) pause();
    }
    close(ready[1]);
    char answer = 0;
    is_ready_ = read(ready[0], &answer, 1) == 1;
    close(ready[0]);
  }
  ~Owner() { end(); }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    former_pid_ = std::exchange(pid_, 0);
  }
  bool is_ready() const { return is_ready_; }
  pid_t pid() const { return pid_ > 0 ? pid_ : former_pid_; }

 private:
  pid_t pid_ = 0, former_pid_ = 0;
  bool is_ready_ = false;
};

TEST(Gathering, the_next_command_removes_what_a_killed_one_left) {
  Owner owner;
  ASSERT_TRUE(owner.is_ready());
  owner.end();
  ASSERT_EQ(folders_of(owner.pid()).size(), 1u);
  { ASSERT_TRUE(Gathering::open()); }
  EXPECT_TRUE(folders_of(owner.pid()).empty());
  EXPECT_TRUE(folders_of(getpid()).empty());
}

TEST(Gathering, the_folder_of_a_living_command_stays) {
  const Owner owner;
  ASSERT_TRUE(owner.is_ready());
  ASSERT_TRUE(Gathering::open());
  const auto folders = folders_of(owner.pid());
  ASSERT_EQ(folders.size(), 1u);
  EXPECT_FALSE(fs::is_empty(folders.front()));
}

/// A directory as if stale by a process with this ID that started at boot, which does not exist.
class StaleFolder {
 public:
  explicit StaleFolder(mode_t mode) : path_(fs::path("/dev/shm") / (prefix_of(getpid()) + "1")) {
    mkdir(path_.c_str(), 0700);
    chmod(path_.c_str(), mode);
  }
  ~StaleFolder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TEST(Gathering, a_locked_folder_of_an_invisible_process_stays) {
  const StaleFolder stale(0700);
  const int held = open(stale.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(flock(held, LOCK_EX | LOCK_NB), 0);
  { ASSERT_TRUE(Gathering::open()); }
  EXPECT_TRUE(fs::exists(stale.path()));
  close(held);
  { ASSERT_TRUE(Gathering::open()); }
  EXPECT_FALSE(fs::exists(stale.path()));
}

TEST(Gathering, directories_that_others_may_access_stay) {
  {
    const StaleFolder stale(0770);
    { ASSERT_TRUE(Gathering::open()); }
    EXPECT_TRUE(fs::exists(stale.path()));
  }
  const fs::path other = fs::path("/dev/shm") / (prefix_of(getpid()) + "1");
  std::ofstream(other) << "a file";
  { ASSERT_TRUE(Gathering::open()); }
  EXPECT_TRUE(fs::exists(other));
  fs::remove(other);
}

}  // namespace
}  // namespace tally::linux
