// `tally watch` on a terminal: tmux emulates it, and prints its screen.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "tally/core/base/text.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

std::string shell_output(const std::string& command) { return Running({"/bin/sh", "-c", command}).finish().out; }

// A terminal with N columns and lines, in which a shell runs; it ends with this object.
class Terminal {
 public:
  Terminal(int columns, int lines, const std::string& command, const std::string& environment = "")
      : socket_("tally-test-" + std::to_string(getpid()) + "-" + std::to_string(++made)) {
    tmux("new-session -d -x " + std::to_string(columns) + " -y " + std::to_string(lines) + " \"" + environment + " " +
         command + "; echo ended with \\$?; cat\"");
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { tmux("kill-server"); }

  std::string tmux(const std::string& words) const {
    return shell_output("tmux -L " + socket_ + " -f /dev/null " + words + " 2>&1");
  }
  void press(const std::string& keys) const { tmux("send-keys " + keys); }
  std::string text() const { return tmux("capture-pane -p"); }

  // Reads the screen until two readings contain the text, because the first may be in the middle of a redraw; returns
  // the last screen.
  std::string wait_for(const std::string& what) const {
    const auto end = std::chrono::steady_clock::now() + longest_wait;
    for (bool seen = false;;) {
      const std::string now = text();
      const bool sees = now.find(what) != std::string::npos;
      if (sees && seen) return now;
      if (std::chrono::steady_clock::now() > end) {
        ADD_FAILURE() << "'" << what << "' never came:\n" << now;
        return now;
      }
      seen = sees;
    }
  }

 private:
  // Each has a server of its own: one that was asked to end may still exist when the next begins.
  static inline int made = 0;
  std::string socket_;
};

std::string watch(const std::string& options) { return std::string(TALLY_COMMAND) + " watch -I 100 " + options; }

class WatchScreen : public testing::Test {
 protected:
  void SetUp() override {
    if (shell_output("command -v tmux").empty()) GTEST_SKIP() << "tmux is not installed";
    if (shell_output(std::string("strings -n 5 ") + TALLY_COMMAND + " 2>/dev/null | grep -c 'without ncurses'") ==
        "1\n") {
      GTEST_SKIP() << "tally was built without ncurses";
    }
  }
};

TEST_F(WatchScreen, fits_terminals_of_all_sizes_and_follows_when_they_change) {
  for (const auto& [columns, lines] : {std::pair{40, 10}, {80, 24}, {250, 80}}) {
    const Terminal terminal(columns, lines, watch(""));
    const std::string text = terminal.wait_for(" SYS ");
    EXPECT_TRUE(text.starts_with("tally watch")) << text;
    EXPECT_NE(text.find("q quit"), std::string::npos) << text;
    terminal.tmux("resize-window -x 60 -y 12");
    const std::string resized = terminal.wait_for("q quit  m machine  p processes  g groups  s sort  / filter\n");
    EXPECT_TRUE(resized.starts_with("tally watch")) << resized;
    terminal.press("q");
    terminal.wait_for("ended with 0");
  }
}

TEST_F(WatchScreen, does_what_its_keys_say) {
  const Terminal terminal(120, 30, watch(""));
  terminal.wait_for(" SYS ");
  terminal.press("p");
  terminal.wait_for("NAME");
  terminal.press("/");
  terminal.press("tally Enter");
  const std::string filtered = terminal.wait_for("filter: tally");
  terminal.press("?");
  terminal.wait_for("share of time on a processor");
  terminal.press("w");
  terminal.wait_for("Absent here");
  terminal.press("h");
  terminal.wait_for("Num sockets: ");
  terminal.press("c");
  terminal.wait_for("[x] UTIL");
  terminal.press("Space");
  terminal.wait_for("[ ] UTIL");
  terminal.press("c");
  const std::string hidden = terminal.wait_for(" SYS ");
  EXPECT_EQ(hidden.find("UTIL"), std::string::npos) << hidden;
  terminal.press("Space");
  terminal.wait_for("PAUSED");
  terminal.press("q");
  terminal.wait_for("ended with 0");
}

TEST_F(WatchScreen, records_what_it_shows_and_replays_it) {
  const TemporaryFile record("minute.jsonl");
  {
    const Terminal terminal(100, 24, watch("-n 3 --record " + record.path()));
    terminal.wait_for("ended with 0");
  }
  const Finished printed = tally({"watch", "--batch", "--replay", record.path(), "--format", "json"});
  ASSERT_EQ(printed.code(), 0) << printed.err;
  EXPECT_EQ(printed.out, record.content()) << "a result that was read is written unchanged";
  const Terminal terminal(160, 24, watch("--replay " + record.path()));
  terminal.wait_for("3/3");
  terminal.press("b");
  terminal.wait_for("2/3");
  terminal.press("q");
  terminal.wait_for("ended with 0");
}

TEST_F(WatchScreen, stops_and_comes_back) {
  const Terminal terminal(100, 24, "sh -i", "PS1=prompt: ENV=");
  terminal.wait_for("prompt:");
  terminal.press("'" + watch("") + "' Enter");
  terminal.wait_for(" SYS ");
  terminal.press("C-z");
  terminal.wait_for("Stopped");
  terminal.press("fg Enter");
  terminal.wait_for(" SYS ");
  terminal.press("C-c");
  terminal.wait_for("prompt:");
}

TEST_F(WatchScreen, prints_rows_if_the_terminal_cannot_move_its_cursor) {
  for (const char* kind : {"dumb", "no-such-terminal"}) {
    const Terminal terminal(100, 120, watch("-n 1"), std::string("TERM=") + kind);
    const std::string text = terminal.wait_for("ended with 0");
    EXPECT_NE(text.find(std::string("TERM is '") + kind + "'"), std::string::npos) << text;
    EXPECT_NE(text.find(" SYS "), std::string::npos) << text;
  }
}

TEST_F(WatchScreen, has_no_colours_if_they_are_disabled) {
  for (const auto& [environment, any] : {std::pair{"NO_COLOR=", true}, {"NO_COLOR=1", false}}) {
    const Terminal terminal(100, 24, watch(""), environment);
    terminal.wait_for(" SYS ");
    const bool has_cyan = terminal.tmux("capture-pane -p -e").find("\x1b[36m") != std::string::npos ||
                          terminal.tmux("capture-pane -p -e").find(";36m") != std::string::npos;
    EXPECT_EQ(has_cyan, any) << environment;
  }
}

TEST_F(WatchScreen, ends_with_its_command) {
  const Terminal terminal(100, 24, watch("-- sh -c 'sleep 0.3; exit 5'"));
  terminal.wait_for("ended with 5");
}

TEST(Watch, an_invalid_recording_is_refused) {
  const TemporaryFile other("a.jsonl", "{\"schema\":\"tally-stat/2\"}\n");
  EXPECT_EQ(tally({"watch", "--replay", other.path()}).code(), 2);
  const TemporaryFile broken("b.jsonl", "not json\n{}\n");
  const Finished finished = tally({"watch", "--replay", broken.path()});
  EXPECT_EQ(finished.code(), 2);
  EXPECT_NE(finished.err.find("line 1"), std::string::npos) << finished.err;
  const Finished whole = tally({"watch", "--batch", "-n", "2", "-I", "20", "--format", "json"});
  const TemporaryFile cut("c.jsonl", whole.out.substr(0, whole.out.size() - 100));
  EXPECT_EQ(tally({"watch", "--batch", "--replay", cut.path()}).code(), 0) << "what was written must be kept";
}

}  // namespace
}  // namespace tally::test
