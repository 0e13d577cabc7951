// Files that others may have created, output that replaces earlier output, and small stacks.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;

Finished run_shell(const std::string& script) { return Running({"/bin/sh", "-c", script}).finish(); }

const std::string command = TALLY_COMMAND;

TEST(Trust, a_pipe_in_the_state_folder_does_not_block) {
  const TemporaryFile home("home");
  fs::create_directories(home.path() + "/.cache/tally");
  ASSERT_EQ(mkfifo((home.path() + "/.cache/tally/verify-none.json").c_str(), 0600), 0);
  const Finished finished = run_shell("unset TALLY_CACHE_DIR XDG_CACHE_HOME; HOME=" + home.path() + " timeout 1200 " +
                                      command + " stat -q --backend none -o /dev/null -- true");
  EXPECT_EQ(finished.code(), 0) << finished.err;
}

TEST(Trust, nothing_is_stored_through_a_link) {
  const TemporaryFile victim("victim", "precious");
  fs::create_directories(victim.folder() + "/.cache/tally");
  for (const char* name : {"verify-engine.json", "verify-perf.json"})
    fs::create_symlink(victim.path(), victim.folder() + "/.cache/tally/" + name);
  (void)run_shell("unset TALLY_CACHE_DIR XDG_CACHE_HOME; HOME=" + victim.folder() + " " + command + " verify --quick");
  EXPECT_EQ(victim.content(), "precious");
}

TEST(Trust, several_that_append_write_one_header) {
  const TemporaryFile file("rows.csv");
  const std::string one =
      command + " stat -q --backend none -e minor-faults --format csv --append -o " + file.path() + " -- sleep 0.2 & ";
  EXPECT_EQ(run_shell(one + one + one + "wait").code(), 0);
  const std::string text = file.content().value_or("");
  std::size_t headers = 0;
  for (std::size_t at = 0; (at = text.find("trust", at)) != std::string::npos; ++at) ++headers;
  EXPECT_EQ(headers, 1u) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4) << text;
}

TEST(Trust, an_earlier_result_survives_a_full_disk) {
  const TemporaryFile place("disk");
  fs::create_directory(place.path());
  if (mount("tally", place.path().c_str(), "tmpfs", 0, "size=32k") != 0) GTEST_SKIP() << "mounting takes root";
  const std::string file = place.path() + "/good.json";
  const std::string stat = command + " stat -q --backend none --format json -o " + file + " -- true";
  EXPECT_EQ(run_shell(stat).code(), 0);
  const std::string earlier = TemporaryFile::read(file).value_or("");
  (void)run_shell("dd if=/dev/zero of=" + place.path() + "/fill bs=4k count=99 2>/dev/null");
  const Finished full = run_shell(stat + " -r 99");
  EXPECT_EQ(TemporaryFile::read(file), earlier);
  EXPECT_EQ(run_shell(command + " stat -q -r 30 --backend none --format json -o " + file + " -- true").code(), 125);
  EXPECT_EQ(TemporaryFile::read(file), earlier);
  EXPECT_EQ(umount2(place.path().c_str(), MNT_DETACH), 0);
}

TEST(Trust, a_second_sigterm_leaves_a_program_that_does_not_end) {
  const TemporaryFile file("result.json");
  Running one(
      tally_words({"stat", "-q", "--backend", "none", "-e", "minor-faults", "--format", "json", "-o", file.path(), "--",
                   "sh", "-c", "trap 'echo got' TERM; echo ready; while :; do sleep 0.05; done"}));
  ASSERT_TRUE(one.wait_for_output("ready\n"));
  one.signal(SIGTERM);
  ASSERT_TRUE(one.wait_for_output("got\n"));
  usleep(300'000);  // earlier, both would be one signal
  one.signal(SIGTERM);
  while (!file.content()) usleep(10'000);
  one.signal_group(SIGKILL);
  (void)one.finish();
  EXPECT_NE(file.content()->find("\"incomplete\": true"), std::string::npos) << *file.content();
}

TEST(Trust, works_with_a_stack_of_64_kilobytes) {
  const TemporaryFile page("page.html");
  const std::string small = "ulimit -s 64 && ";
  EXPECT_EQ(run_shell(small + command + " stat -q --backend none -e minor-faults -- true").code(), 0);
  EXPECT_EQ(run_shell(small + command + " report " TALLY_GOLDEN "/one-run.json -o " + page.path()).code(), 0);
  const Finished inherited =
      run_shell(small + command + " stat -q --backend none -e minor-faults -- sh -c 'ulimit -s'");
  EXPECT_EQ(inherited.out, "64\n") << "the program keeps the limit that it set";
}

}  // namespace
}  // namespace tally::test
