// Processes that a program leaves running: named in a notice, or waited for with --wait-all.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tally/linux/perf/perf_event.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

// A daemon, outside its parent's process tree and session, that works after the program ($$) has ended: for longer than
// the tenth of a second that tally waits for all processes.
constexpr const char* leaves_a_daemon =
    "(setsid sh -c \"while kill -0 $$; do :; done; sleep 0.3; i=0; while [ \\$i -lt 3000 ]; do i=\\$((i+1)); done\" "
    ">/dev/null 2>&1 &); exit 4";

// A daemon that ends when the file of this name is removed, or when its process is killed.
std::string leaves_an_endless_daemon(const std::string& file) {
  return "(setsid sh -c 'echo $$ >" + file + "; while [ -e " + file +
         " ]; do :; done' >/dev/null 2>&1 &); while ! [ -s " + file + " ]; do :; done; echo $$";
}

class Descendants : public testing::TestWithParam<const char*> {
 protected:
  Words words(Words more, const std::string& script) const {
    // Without a PMU, use software events instead.
    const char* events = by_counters() ? "task-clock,minor-faults" : "instructions,minor-faults";
    Words all{"stat", "--backend", GetParam(), "-e", events, "--format", "json", "-o", file_.path()};
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {"--", "sh", "-c", script});
    return all;
  }
  bool counts() const { return std::string(GetParam()) == "engine"; }
  bool by_counters() const { return std::string(GetParam()) == "perf"; }
  void SetUp() override {
    if (by_counters() && !linux::open_for_next_program(linux::KernelEvent::minor_faults)) {
      GTEST_SKIP() << "the kernel refuses perf_event_open here";
    }
  }
  json result() const { return json::parse(file_.content().value_or("no file")); }

  TemporaryFile file_{"result.json"};
};

TEST_P(Descendants, are_waited_for_with_wait_all) {
  EXPECT_EQ(tally(words({"--wait-all", "--per-process"}, leaves_a_daemon)).code(), 4);
  const json all = result();
  EXPECT_EQ(all["incomplete"], false);
  EXPECT_EQ(all["notices"].dump().find("still running"), std::string::npos);
  for (const json& process : all["processes"]) EXPECT_NE(process["end"], "running");
  if (!counts()) {
    EXPECT_EQ(all["events"][1]["trust"], "counted");
    return;
  }
  EXPECT_EQ(all["events"][0]["trust"], "exact") << all["events"][0];
  EXPECT_GT(all["events"][0]["value"], 500'000) << "3,000 rounds of the daemon's loop";
}

TEST_P(Descendants, add_to_the_resources_used) {
  const char* leaves_a_large_one = "(setsid dd if=/dev/zero of=/dev/null bs=64M count=1 >/dev/null 2>&1 &)";
  EXPECT_EQ(tally(words({"--wait-all", "-e", "peak-memory"}, leaves_a_large_one)).code(), 0);
  EXPECT_GE(result()["events"][2]["value"], 64 << 20);
}

TEST_P(Descendants, that_are_left_running_are_named) {
  const TemporaryFile flag("lives", "");
  EXPECT_EQ(tally(words({}, leaves_an_endless_daemon(flag.path()))).code(), 0);
  const std::string daemon = flag.content().value_or("");
  const json event = result()["events"][counts() ? 0 : 1];
  EXPECT_EQ(event["trust"], "partial");
  const std::string reason = event["reason"];
  EXPECT_NE(reason.find(counts() ? "1 process was still running" : "processes that were still running"),
            std::string::npos)
      << reason;
  const std::string named = "sh (" + daemon.substr(0, daemon.find('\n')) + ")";
  EXPECT_NE(result()["notices"].dump().find(named), std::string::npos) << result()["notices"] << named;
  EXPECT_EQ(kill(std::stoi(daemon), SIGKILL), 0);
}

TEST_P(Descendants, live_on_when_ctrl_c_ends_the_wait) {
  const TemporaryFile flag("lives", "");
  Running running(tally_words(words({"--wait-all"}, leaves_an_endless_daemon(flag.path()) + "; exec >&-")));
  ASSERT_TRUE(running.wait_for_output("\n"));
  // The wait for other processes begins when the program is reaped.
  const pid_t program = std::stoi(running.output());
  while (kill(program, 0) == 0) {
  }
  running.signal_group(SIGINT);
  EXPECT_EQ(running.finish().code(), -SIGINT);
  const pid_t daemon = std::stoi(flag.content().value_or("-1"));
  EXPECT_EQ(kill(daemon, 0), 0) << "it should continue to run";
  kill(daemon, SIGKILL);
  EXPECT_EQ(result()["exit_code"], 0);
  EXPECT_EQ(result()["incomplete"], true);
  EXPECT_EQ(result()["interrupted_by"], SIGINT);
  EXPECT_EQ(result()["events"][1]["trust"], "partial");
}

TEST_P(Descendants, do_not_include_what_tally_was_started_with) {
  std::string line = "sleep 1000 >/dev/null 2>&1 & echo $! >&2; exec";
  for (const std::string& word : tally_words(words({"--wait-all"}, "exit 3"))) line += " '" + word + "'";
  const Finished finished = Running({"/bin/sh", "-c", line}).finish();
  EXPECT_EQ(finished.code(), 3);
  kill(std::stoi(finished.err), SIGKILL);
}

#if TALLY_HAS_ENGINE
const auto backends = testing::Values("none", "perf", "engine");
#else
const auto backends = testing::Values("none", "perf");
#endif
INSTANTIATE_TEST_SUITE_P(cli, Descendants, backends, [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace tally::test
