#include "tally/linux/process/scratch_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>

namespace tally::linux {
namespace {

namespace fs = std::filesystem;

// A process that is killed cannot remove its directory; the next one of the same user does.
TEST(ScratchFolder, of_killed_processes_are_removed) {
  const auto outer = ScratchFolder::make();
  ASSERT_TRUE(outer);
  std::optional<ScratchFolder> living(*ScratchFolder::make_in(outer->path()));
  const std::string of_living = living->path(), of_killed = outer->path() + "/tally-run-killed",
                    of_others = outer->path() + "/others", new_one = outer->path() + "/tally-run-new";
  for (const std::string& path : {of_killed, of_others, new_one}) fs::create_directories(path + "/sys");
  const timespec old[2] = {{1, 0}, {1, 0}};
  for (const std::string& path : {of_killed, of_others, of_living}) utimensat(AT_FDCWD, path.c_str(), old, 0);
  const auto next = ScratchFolder::make_in(outer->path());
  EXPECT_TRUE(next);
  EXPECT_FALSE(fs::exists(of_killed));
  EXPECT_TRUE(fs::exists(of_living)) << "it is locked";
  EXPECT_TRUE(fs::exists(of_others));
  EXPECT_TRUE(fs::exists(new_one)) << "its process may be about to lock it";
  living.reset();
  EXPECT_FALSE(fs::exists(of_living));
}

}  // namespace
}  // namespace tally::linux
