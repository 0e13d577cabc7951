// KCachegrind opens what `tally profile` writes; the test checks its window on an invisible display.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

/// Prints the names of the windows as soon as one of them contains the name of the opened file, or after a minute.
constexpr const char* open_and_list_windows = R"(
  export HOME=$1 XDG_RUNTIME_DIR=$1 QT_QPA_PLATFORM=xcb
  mkfifo $1/display
  Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp 3>$1/display 2>/dev/null &
  server=$!
  read number <$1/display
  export DISPLAY=:$number
  dbus-run-session kcachegrind $2 >/dev/null 2>&1 &
  viewer=$!
  for i in $(seq 600); do
    windows=$(xwininfo -root -tree)
    case "$windows" in *"[$3"*KCachegrind*) break;; esac
    sleep 0.1
  done
  echo "$windows"
  kill $viewer $server
  wait
)";

TEST(Kcachegrind, opens_a_profile) {
#if !TALLY_HAS_ENGINE
  GTEST_SKIP() << "the engine is for x86-64";
#endif
  const auto run = [](const std::string& command, const Words& arguments = {}) {
    Words words{"/bin/sh", "-c", command, "sh"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return Running(words).finish();
  };
  if (run("command -v kcachegrind && command -v Xvfb && command -v xwininfo && command -v dbus-run-session").code() !=
      0)
    GTEST_SKIP() << "no display or viewer: packages kcachegrind, xvfb, x11-utils, dbus";
  const TemporaryFile folder("kcachegrind"), file("callgrind.out.1");
  std::filesystem::remove(folder.path());
  std::filesystem::create_directories(folder.path());
  ASSERT_EQ(tally({"profile", "-q", "--calls", "--format", "callgrind", "-o", file.path(), "--", PROFILED}).code(), 0);
  // KCachegrind shows no command in the window of a file that it cannot read.
  const Finished finished = run(open_and_list_windows, {folder.path(), file.path(), PROFILED});
  std::filesystem::remove_all(folder.path());
  EXPECT_NE(finished.out.find(std::string("[") + PROFILED), std::string::npos) << finished.out << finished.err;
}

}  // namespace
}  // namespace tally::test
