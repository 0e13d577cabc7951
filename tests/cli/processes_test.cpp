// Counts per process and thread of a program that runs natively, by software events. tests/guest tests the same with a
// PMU, tests/engine with the engine.
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>

#include "tally/linux/perf/perf_event.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

#define TALLY_NEEDS_COUNTERS()                                          \
  if (!linux::open_for_next_program(linux::KernelEvent::page_faults)) { \
    GTEST_SKIP() << "the kernel refuses perf_event_open here";          \
  }

Words options(Words more) {
  Words words{"stat", "-q", "--format", "json", "-o", "-", "-e", "page-faults,task-clock,user_time"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

json result_of(const Words& more) {
  const Finished finished = tally(options(more));
  json parsed = json::parse(finished.out, nullptr, false);
  EXPECT_FALSE(parsed.is_discarded()) << finished.err;
  return parsed;
}

std::int64_t sum(const json& rows, std::size_t event) {
  std::int64_t all = 0;
  for (const json& row : rows) all += row["events"][event]["value"].get<std::int64_t>();
  return all;
}

// "sh exec, ls exited 0": the command and the end of every row.
std::string ends(const json& processes) {
  std::string text;
  for (const json& row : processes) {
    if (!text.empty()) text += ", ";
    text += row["command"].get<std::string>() + " " + row["end"].get<std::string>();
    for (const char* key : {"exit_code", "signal"}) {
      if (!row[key].is_null()) text += " " + row[key].dump();
    }
  }
  return text;
}

TEST(Processes, each_program_that_was_executed_is_a_row_and_they_add_up) {
  TALLY_NEEDS_COUNTERS();
  const json result =
      result_of({"--per-process", "--", "/bin/sh", "-c", "/bin/ls / >/dev/null; (exit 3); exec /bin/true"});
  EXPECT_EQ(result["backend"], "perf");
  const json& rows = result["processes"];
  EXPECT_EQ(ends(rows), "sh executed, sh executed, ls exited 0, sh exited 3, true exited 0");
  EXPECT_EQ(rows[1]["pid"], rows[2]["pid"]);
  EXPECT_EQ(rows[2]["image"], 1);
  EXPECT_EQ(rows[0]["pid"], rows[4]["pid"]);
  EXPECT_EQ(rows[1]["parent_pid"], rows[0]["pid"]);
  for (const std::size_t event : {0, 1}) {
    EXPECT_EQ(sum(rows, event), result["events"][event]["value"]) << event;
    for (const json& row : rows) EXPECT_EQ(row["events"][event]["trust"], "counted");
  }
  EXPECT_GT(rows[2]["events"][0]["value"], 20) << "ls touches its pages itself";
  EXPECT_EQ(rows[0]["events"][2]["trust"], "absent") << "of the whole command only";
  EXPECT_EQ(result["runs"][0]["processes"], 3);
}

// Counts of processes that exist when the delay ends, and of those that begin later.
TEST(Processes, a_delay_leaves_the_beginning_of_each_out) {
  TALLY_NEEDS_COUNTERS();
  const char* work = "dd if=/dev/zero of=/dev/null bs=16M count=1 2>/dev/null";
  constexpr std::int64_t pages = 16 * 1024 / 4;
  json result;
  EXPECT_TRUE(is_true_with_time([&](int factor) {
    const std::string script = work + ("; sleep " + std::to_string(0.4 * factor) + "; ") + work + "; exec " + work;
    result = result_of({"--per-process", "--delay", std::to_string(200 * factor), "--", "/bin/sh", "-c", script});
    // Of the process that began later and the one that was the shell.
    return sum(result["processes"], 0) >= 2 * pages && sum(result["processes"], 0) < 3 * pages;
  })) << result;
  EXPECT_EQ(sum(result["processes"], 0), result["events"][0]["value"]);
}

TEST(Processes, threads_are_rows_of_their_own_where_they_are_asked_for) {
  TALLY_NEEDS_COUNTERS();
  const json result = result_of({"--per-thread", "--per-process", "--", WORKERS, "2", "3", "1000"});
  ASSERT_EQ(result["processes"].size(), 3u);
  EXPECT_EQ(result["threads"].size(), 9u);
  EXPECT_EQ(result["runs"][0]["threads"], 9);
  EXPECT_EQ(sum(result["threads"], 0), result["events"][0]["value"]);
  EXPECT_EQ(sum(result["processes"], 0), result["events"][0]["value"]);
}

TEST(Processes, a_thread_may_execute_and_then_is_the_first_thread) {
  TALLY_NEEDS_COUNTERS();
  const json result = result_of({"--per-process", "--per-thread", "--", WORKERS, "execute", "/bin/true"});
  EXPECT_EQ(ends(result["processes"]), "workers executed, true exited 0");
  EXPECT_EQ(sum(result["threads"], 0), result["events"][0]["value"]);
}

TEST(Processes, signals_and_stops_are_the_programs_own) {
  TALLY_NEEDS_COUNTERS();
  const json killed = result_of({"--per-process", "--", "/bin/sh", "-c", "/bin/sh -c 'kill -KILL $$'; kill -TERM $$"});
  EXPECT_EQ(ends(killed["processes"]), "sh signalled 15, sh executed, sh signalled 9");
  EXPECT_EQ(killed["signal"], SIGTERM);
  const Finished trapped =
      tally(options({"--per-process", "--", "/bin/sh", "-c",
                     "trap 'echo trapped' USR1; kill -USR1 $$; sh -c 'kill -STOP $$' & "
                     "while ! grep -qs '[Tt] (' /proc/$!/status; do :; done; "
                     // It may be seen in a stop of the tracer's before its own stop: then one signal comes too early.
                     "while kill -CONT $! 2>/dev/null; do sleep 0.01; done; wait $!; exit 4"}));
  EXPECT_EQ(trapped.code(), 4) << trapped.err;
  EXPECT_EQ(trapped.out.find("trapped"), 0u) << trapped.out;
}

TEST(Processes, what_is_left_running_is_partial) {
  TALLY_NEEDS_COUNTERS();
  const json result = result_of({"--per-process", "--", "/bin/sh", "-c", "/bin/sleep 1000 >/dev/null 2>&1 & exit 0"});
  const json& rows = result["processes"];
  ASSERT_EQ(ends(rows), "sh exited 0, sh executed, sleep running");
  kill(rows[2]["pid"].get<pid_t>(), SIGKILL);
  EXPECT_EQ(rows[0]["events"][0]["trust"], "counted");
  EXPECT_EQ(rows[2]["events"][0]["trust"], "partial");
  EXPECT_EQ(result["events"][0]["trust"], "partial");
}

// If a process is killed between its fork and the kernel's report of it, it leaves a child that was not announced.
TEST(Processes, none_is_lost_whose_parent_is_killed) {
  TALLY_NEEDS_COUNTERS();
  const TemporaryFile begun("begun");
  const json result = result_of({"--per-process", "--wait-all", "--", WORKERS, "killed", "200", begun.path()});
  EXPECT_EQ(result["exit_code"], 0);
  EXPECT_GE(result["processes"].size(), begun.content().value_or("").size());
  EXPECT_EQ(sum(result["processes"], 0), result["events"][0]["value"]);
}

TEST(Processes, the_rusage_of_a_child_is_taken_once) {
  TALLY_NEEDS_COUNTERS();
  const Words work{"--", "/bin/sh", "-c", "/bin/sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'"};
  Words apart{"--per-process"};
  apart.insert(apart.end(), work.begin(), work.end());
  const json result = result_of(apart);
  const auto user = result["events"][2]["value"].get<double>();
  const auto clock = result["events"][1]["value"].get<double>();
  EXPECT_LT(user, 1.5 * clock) << "user_time is within the time on processors";
}

TEST(Processes, that_are_attached_to_have_rows_too) {
  TALLY_NEEDS_COUNTERS();
  Running one({"/bin/sleep", "1000"});
  Running other({"/bin/sleep", "1000"});
  const std::string both = std::to_string(one.pid()) + "," + std::to_string(other.pid());
  const json result = result_of({"--per-process", "--per-thread", "-p", both, "--", "/bin/true"});
  ASSERT_EQ(result["processes"].size(), 2u);
  EXPECT_EQ(ends(result["processes"]), "sleep running, sleep running");
  EXPECT_EQ(result["processes"][0]["pid"], one.pid());
  EXPECT_EQ(result["threads"].size(), 2u);
  EXPECT_EQ(result["processes"][0]["events"][0]["trust"], "counted");
  EXPECT_EQ(tally({"stat", "--per-process", "-a", "-e", "task-clock", "--", "true"}).code(), 2);
}

}  // namespace
}  // namespace tally::test
