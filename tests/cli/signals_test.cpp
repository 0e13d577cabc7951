// Signals: the program gets its own, tally writes what it has and dies of the same.
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

// A program that says when it is ready and then runs until a signal ends it.
constexpr const char* endless = "echo ready; while :; do :; done";

class Interrupted {
 public:
  explicit Interrupted(const std::string& script, const Surroundings& surroundings = {}, const Words& more = {})
      : running_(words(script, more), surroundings) {
    EXPECT_TRUE(running_.wait_for_output("ready\n"));
  }

  Running* operator->() { return &running_; }
  json result() const { return json::parse(file_.content().value_or("no file")); }

 private:
  Words words(const std::string& script, const Words& more) const {
    Words all{"stat", "--backend", "none", "-e", "user_time,minor-faults", "--format", "json", "-o", file_.path()};
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {"--", "sh", "-c", script});
    return tally_words(all);
  }

  TemporaryFile file_{"result.json"};
  Running running_;
};

TEST(Signals, on_ctrl_c_the_results_are_written_and_tally_dies_of_it) {
  Interrupted one(endless);
  one->signal_group(SIGINT);
  EXPECT_EQ(one->finish().code(), -SIGINT);
  const json result = one.result();
  EXPECT_EQ(result["interrupted_by"], SIGINT);
  EXPECT_EQ(result["incomplete"], true);
  EXPECT_EQ(result["signal"], SIGINT);
  EXPECT_EQ(result["events"][1]["trust"], "partial");
  EXPECT_GT(result["events"][1]["value"], 0);
}

TEST(Signals, a_program_that_survives_ctrl_c_is_waited_for) {
  Interrupted one("trap 'echo handled; exit 5' INT; echo ready; while :; do :; done");
  one->signal_group(SIGINT);
  const Finished finished = one->finish();
  EXPECT_EQ(finished.code(), -SIGINT);
  EXPECT_NE(finished.out.find("handled"), std::string::npos);
  EXPECT_EQ(one.result()["exit_code"], 5);
}

TEST(Signals, sent_to_tally_alone_reach_the_program) {
  for (const int number : {SIGTERM, SIGHUP, SIGINT}) {
    Interrupted one(endless);
    one->signal(number);
    EXPECT_EQ(one->finish().code(), -number);
    EXPECT_EQ(one.result()["signal"], number);
    EXPECT_EQ(one.result()["interrupted_by"], number);
  }
}

TEST(Signals, an_interrupt_ends_a_series) {
  Interrupted one(endless, {}, {"-r", "9"});
  one->signal_group(SIGINT);
  EXPECT_EQ(one->finish().code(), -SIGINT);
  EXPECT_EQ(one.result()["runs"].size(), 1u);
  EXPECT_EQ(one.result()["incomplete"], true);
}

TEST(Signals, ignored_at_the_start_stay_ignored) {
  // The program sends it to its whole group, tally included: no other moment is sure.
  Surroundings hangup_ignored;
  hangup_ignored.ignored_hangup = true;
  Interrupted one("kill -HUP 0; echo ready; exit 6", hangup_ignored);
  EXPECT_EQ(one->finish().code(), 6);
  EXPECT_TRUE(one.result()["interrupted_by"].is_null());
}

}  // namespace
}  // namespace tally::test
