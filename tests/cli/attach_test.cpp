// Counting running processes, and counting with delays, intervals and time-outs: with the kernel's software events,
// which need no PMU. tests/guest tests the same with a PMU.
#include <gtest/gtest.h>

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tally/linux/perf/perf_event.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using nlohmann::json;

#define TALLY_NEEDS_COUNTERS()                                         \
  if (!linux::open_for_next_program(linux::KernelEvent::task_clock)) { \
    GTEST_SKIP() << "the kernel refuses perf_event_open here";         \
  }

json result_of(const Words& words) {
  Words all{"stat", "-q", "--format", "json", "-o", "-"};
  all.insert(all.end(), words.begin(), words.end());
  const Finished finished = tally(all);
  json parsed = json::parse(finished.out, nullptr, false);
  EXPECT_FALSE(parsed.is_discarded()) << finished.err;
  return parsed;
}

std::int64_t value(const json& result, std::size_t row) { return result["events"][row]["value"].get<std::int64_t>(); }

TEST(Attach, a_process_is_counted_until_its_end) {
  TALLY_NEEDS_COUNTERS();
  const TemporaryFile fifo("fifo");
  ASSERT_EQ(mkfifo(fifo.path().c_str(), 0600), 0);
  Running program({"/bin/sh", "-c", "read x <" + fifo.path() + "; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"});
  Running counting(tally_words({"stat", "-q", "--format", "csv", "-o", "-", "-e", "page-faults,task-clock,user_time",
                                "-I", "20", "-p", std::to_string(program.pid())}));
  // The first interval is over, so the counters are open and the program may continue.
  ASSERT_TRUE(counting.wait_for_output("\r\n1,"));
  std::ofstream(fifo.path()) << "go\n";
  const Finished finished = counting.finish();
  EXPECT_EQ(finished.code(), 0) << finished.err;
  EXPECT_TRUE(holds(finished.out, "\r\n1,,,,,,task-clock,")) << finished.out;
  EXPECT_FALSE(holds(finished.out, "\r\n1,,,,,,task-clock,0,")) << finished.out;
  EXPECT_TRUE(holds(finished.out, "user_time,,absent")) << "wait4 reports our own children only";
  program.finish();
}

TEST(Attach, the_default_events_of_a_process_include_its_cpu_time) {
  TALLY_NEEDS_COUNTERS();
  const json result = result_of({"-p", std::to_string(getpid()), "--timeout", "20"});
  std::vector<std::string> names;
  for (const json& event : result["events"]) names.push_back(event["event"].get<std::string>());
  EXPECT_NE(std::find(names.begin(), names.end(), "task-clock"), names.end()) << result.dump();
  EXPECT_EQ(std::find(names.begin(), names.end(), "peak-memory"), names.end()) << result.dump();
}

TEST(Attach, the_end_of_a_process_is_reported) {
  TALLY_NEEDS_COUNTERS();
  EXPECT_TRUE(is_true_with_time([](int factor) {
    Running program({"/bin/sleep", std::to_string(factor)});
    const Finished ended = tally({"stat", "-e", "task-clock", "-p", std::to_string(program.pid())});
    return holds(ended.out + ended.err, "process " + std::to_string(program.pid()) + " ended after ");
  }));
  const Finished stopped = tally({"stat", "-e", "task-clock", "-p", std::to_string(getpid()), "--timeout", "20"});
  EXPECT_FALSE(holds(stopped.out + stopped.err, "ended after")) << stopped.out << stopped.err;
}

TEST(Attach, what_does_not_exist_is_reported) {
  TALLY_NEEDS_COUNTERS();
  const Finished process = tally({"stat", "-e", "task-clock", "-p", "2147483647"});
  EXPECT_EQ(process.code(), 125);
  EXPECT_TRUE(holds(process.err, "there is no process 2147483647"));
  const Finished thread = tally({"stat", "-e", "task-clock", "-t", "2147483647"});
  EXPECT_TRUE(holds(thread.err, "there is no thread 2147483647"));
  EXPECT_TRUE(holds(tally({"stat", "-p", "1,sh"}).err, "'sh' is not a process ID"));
  EXPECT_EQ(tally({"stat", "-e", "task-clock", "-C", "4000"}).code(), 2);
  EXPECT_EQ(tally({"stat", "-e", "task-clock", "-C", "1-"}).code(), 2);
  EXPECT_EQ(tally({"stat", "-e", "task-clock", "-a", "-p", "1"}).code(), 2);
}

TEST(Attach, a_zombie_is_reported_as_one) {
  TALLY_NEEDS_COUNTERS();
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  for (const char* option : {"-p", "-t"}) {
    const Finished finished = tally({"stat", "-e", "task-clock", option, std::to_string(child)});
    EXPECT_EQ(finished.code(), 125);
    EXPECT_TRUE(holds(finished.err, std::to_string(child) + " has ended")) << finished.err;
    EXPECT_TRUE(holds(finished.err, "it is a zombie")) << finished.err;
  }
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

TEST(Attach, parts_of_processors_add_up) {
  TALLY_NEEDS_COUNTERS();
  if (!linux::open_counter({linux::perf_type_software, 3}, {-1, 0})) GTEST_SKIP() << "processors may not be counted";
  for (const char* option : {"--per-core", "--per-socket"}) {
    const json result = result_of({"-a", option, "-e", "task-clock,cs", "--", "sleep", "0.05"});
    for (std::size_t row = 0; row < 2; ++row) {
      std::int64_t sum = 0;
      for (const json& part : result["parts"]) sum += part["events"][row]["value"].get<std::int64_t>();
      EXPECT_EQ(sum, value(result, row)) << option;
    }
  }
  const Finished idle = tally({"stat", "-a", "-e", "task-clock", "--", "true"});
  EXPECT_TRUE(holds(idle.err, "count their idle time, too")) << idle.err;
  EXPECT_EQ(tally({"stat", "--per-core", "-e", "cs", "--", "true"}).code(), 2);
  EXPECT_EQ(tally({"stat", "--cgroup", "no/such/group", "-e", "cs", "--", "true"}).code(), 125);
}

TEST(Attach, the_engine_cannot_attach) {
  const Finished finished = tally({"stat", "--backend", "none", "-e", "page-faults", "-p", "1"});
  EXPECT_EQ(finished.code(), 125);
  EXPECT_TRUE(holds(finished.err, "cannot attach"));
}

TEST(Attach, a_signal_that_ends_it_keeps_every_count) {
  TALLY_NEEDS_COUNTERS();
  Running target({"/bin/sleep", "1000"});
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Running counting(tally_words({"stat", "-q", "--format", "csv", "-o", "-", "-e", "task-clock", "-I", "20", "-p",
                                  std::to_string(target.pid())}));
    ASSERT_TRUE(counting.wait_for_output("\r\n1,"));
    counting.signal(signal);
    const Finished finished = counting.finish();
    EXPECT_EQ(finished.code(), -signal);
    EXPECT_TRUE(holds(finished.out, "\r\n1,,,,,,task-clock,")) << finished.out;
    EXPECT_FALSE(holds(finished.out, "partial")) << finished.out;
  }
}

TEST(Timing, intervals_add_up_to_the_whole) {
  TALLY_NEEDS_COUNTERS();
  const json result = result_of({"-e", "page-faults:u,task-clock", "-I", "20", "--", "sh", "-c",
                                 "i=0; while [ $i -lt 25 ]; do i=$((i+1)); sleep 0.02; done"});
  std::int64_t faults = 0;
  std::int64_t before = 0;
  for (const json& interval : result["intervals"]) {
    faults += interval["events"][0]["value"].get<std::int64_t>();
    EXPECT_GT(interval["end_ns"], before);
    before = interval["end_ns"].get<std::int64_t>();
  }
  EXPECT_GE(result["intervals"].size(), 4u);
  EXPECT_EQ(faults, value(result, 0));
}

TEST(Timing, the_last_interval_ends_with_the_program) {
  TALLY_NEEDS_COUNTERS();
  const json result = result_of({"-e", "page-faults:u", "-I", "60000", "--", "true"});
  ASSERT_EQ(result["intervals"].size(), 1u);
  EXPECT_EQ(result["intervals"][0]["events"][0]["value"], result["events"][0]["value"]);
}

TEST(Timing, intervals_are_printed_while_the_program_runs) {
  TALLY_NEEDS_COUNTERS();
  Running counting(
      tally_words({"stat", "-q", "-x", ",", "-o", "-", "-e", "task-clock", "-I", "20", "--", "sleep", "1000"}));
  ASSERT_TRUE(counting.wait_for_output("task-clock"));
  EXPECT_GE(std::atof(counting.output().c_str()), 0.02) << counting.output();
  counting.signal(SIGTERM);
  EXPECT_TRUE(holds(counting.finish().out, "task-clock"));
}

TEST(Timing, a_delay_leaves_the_beginning_out) {
  TALLY_NEEDS_COUNTERS();
  const json all = result_of({"-e", "page-faults:u", "--", "sleep", "0.2"});
  json later;
  EXPECT_TRUE(is_true_with_time([&](int factor) {
    later = result_of({"-e", "page-faults:u,user_time", "--delay", std::to_string(100 * factor), "--", "sleep",
                       std::to_string(0.2 * factor)});
    return value(later, 0) < value(all, 0) / 2;
  })) << later;
  EXPECT_EQ(later["events"][1]["trust"], "partial");
  const json never = result_of({"-e", "page-faults:u", "--delay", "60000", "--", "true"});
  EXPECT_EQ(never["events"][0]["trust"], "absent");
}

TEST(Timing, a_time_out_ends_the_program) {
  TALLY_NEEDS_COUNTERS();
  const json result = result_of({"-e", "task-clock,duration_time", "--timeout", "50", "--", "sleep", "1000"});
  EXPECT_TRUE(holds(result["notices"].dump(), "--timeout: counts end there; tally then sent SIGTERM"));
  EXPECT_EQ(result["signal"], SIGTERM);
  EXPECT_FALSE(result["incomplete"]);
  EXPECT_EQ(result["events"][0]["trust"], "counted");
}

TEST(Timing, a_program_that_ignores_the_signal_of_a_time_out_is_killed) {
  TALLY_NEEDS_COUNTERS();
  const Words stat = tally_words({"stat", "-q", "--format", "json", "-o", "-", "-e", "task-clock,duration_time",
                                  "--timeout", "50", "--", "sleep", "1000"});
  const Finished finished = Running(with({"/bin/sh", "-c", "trap '' TERM; exec \"$0\" \"$@\""}, stat)).finish();
  const json result = json::parse(finished.out, nullptr, false);
  ASSERT_FALSE(result.is_discarded()) << finished.err;
  EXPECT_TRUE(holds(result["notices"].dump(), "5 seconds of SIGTERM; tally sent SIGKILL")) << result;
  EXPECT_EQ(result["signal"], SIGKILL);
  EXPECT_EQ(result["events"][0]["trust"], "counted");
  EXPECT_EQ(result["events"][1]["trust"], "partial") << "counts end at the time-out";
}

// Under the engine.

#if TALLY_HAS_ENGINE

std::vector<std::int64_t> of_event(const json& list, std::size_t row) {
  std::vector<std::int64_t> values;
  for (const json& one : list) values.push_back(one["events"][row]["value"].get<std::int64_t>());
  return values;
}

// Works for some tenths of a second under the engine, in child processes and in the shell itself.
const Words working{"sh", "-c",
                    "for i in 1 2 3 4 5; do /bin/true; j=0; while [ $j -lt 3000 ]; do j=$((j+1)); done; done"};

TEST(EngineTiming, intervals_are_exact_and_add_up) {
  const json result =
      result_of(with({"--backend", "engine", "-e", "instructions,loads,page-faults", "-I", "5", "--"}, working));
  ASSERT_GE(result["intervals"].size(), 3u);
  for (std::size_t row = 0; row < 3; ++row) {
    // Where the kernel refuses to count it, it is known at the end only.
    if (row == 2 && result["events"][row]["source"] == "wait4") continue;
    std::int64_t sum = 0;
    for (const std::int64_t value : of_event(result["intervals"], row)) sum += value;
    EXPECT_EQ(sum, value(result, row)) << row;
  }
  EXPECT_EQ(result["events"][0]["trust"], "exact");
  int in_between = 0;
  for (const json& interval : result["intervals"]) {
    EXPECT_EQ(interval["events"][0]["trust"], "exact");
    EXPECT_GE(interval["events"][0]["value"], 0);
    in_between += interval["events"][0]["value"] > 0 ? 1 : 0;
  }
  EXPECT_GE(in_between, 2) << "they are read while it runs";
  const json whole = result_of(with({"--backend", "engine", "-e", "instructions", "--repeatable", "--"}, working));
  const json again =
      result_of(with({"--backend", "engine", "-e", "instructions", "--repeatable", "-I", "5", "--"}, working));
  EXPECT_NEAR(static_cast<double>(value(again, 0)), static_cast<double>(value(whole, 0)), 1000);
}

TEST(EngineTiming, intervals_have_few_events_unless_others_are_named) {
  const json result = result_of(with({"--backend", "engine", "-I", "5", "--"}, working));
  std::vector<std::string> events;
  for (const json& event : result["intervals"][0]["events"]) events.push_back(event["event"]);
  EXPECT_EQ(events, (std::vector<std::string>{"instructions:u", "branches:u", "loads:u", "stores:u", "page-faults"}));
}

TEST(EngineTiming, intervals_of_several_runs_have_their_number) {
  const Words stat{"stat", "-q", "--backend", "engine", "-e", "instructions", "-I", "5"};
  const std::string table = tally(with(with(stat, {"-r", "2", "--"}), working)).err;
  EXPECT_TRUE(holds(table, "  run     second                count  event")) << table;
  for (const char* const row : {"\n    1 ", "\n    2 "}) EXPECT_TRUE(holds(table, row)) << table;
  EXPECT_FALSE(holds(tally(with(with(stat, {"--"}), working)).err, "  run  ")) << "a single run is not numbered";
}

TEST(EngineTiming, the_time_of_an_interval_has_the_trust_of_the_whole) {
  const json result =
      result_of(with({"--backend", "engine", "-e", "instructions,duration_time", "-I", "5", "--"}, working));
  EXPECT_EQ(result["events"][1]["trust"], "partial");
  for (const json& interval : result["intervals"]) {
    EXPECT_EQ(interval["events"][1]["trust"], result["events"][1]["trust"]);
    EXPECT_EQ(interval["events"][1]["reason"], result["events"][1]["reason"]);
  }
}

TEST(EngineTiming, intervals_are_printed_while_the_program_runs) {
  Running counting(tally_words({"stat", "-q", "--backend", "engine", "-x", ",", "-o", "-", "-e", "instructions", "-I",
                                "20", "--", "sh", "-c", "while :; do :; done"}));
  ASSERT_TRUE(counting.wait_for_output("instructions:u"));
  counting.signal(SIGTERM);
  EXPECT_TRUE(holds(counting.finish().out, "instructions:u"));
}

// As perf: a parser would read totals as another interval.
TEST(EngineTiming, fields_of_intervals_have_no_totals) {
  const Finished counted = tally({"stat", "-q", "--backend", "engine", "-x", ",", "-o", "-", "-e", "instructions", "-I",
                                  "20", "--", "sh", "-c", "j=0; while [ $j -lt 20000 ]; do j=$((j+1)); done"});
  EXPECT_TRUE(holds(counted.out, "instructions:u")) << counted.err;
  std::istringstream lines(counted.out);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LT(line.find('.'), line.find(',')) << "the first field is a time in seconds: " << line;
}

TEST(EngineTiming, a_delay_leaves_the_beginning_out) {
  const Words command{"sh", "-c", "j=0; while [ $j -lt 20000 ]; do j=$((j+1)); done; sleep 0.5; :"};
  const json all = result_of(with({"--backend", "engine", "-e", "instructions", "--"}, command));
  const json later = result_of(with({"--backend", "engine", "-e", "instructions", "--delay", "60000", "--"}, {"true"}));
  EXPECT_EQ(later["events"][0]["trust"], "absent");
  const TemporaryFile mark("mark");
  json delayed;
  EXPECT_TRUE(is_true_with_time([&](int factor) {
    delayed = result_of({"--backend", "engine", "-e", "instructions,user_time", "--delay", std::to_string(500 * factor),
                         "--per-process", "--", "sh", "-c",
                         "j=0; while [ $j -lt 20000 ]; do j=$((j+1)); done; sleep " + std::to_string(factor) + "; :"});
    return value(delayed, 0) < value(all, 0) / 2 && value(delayed, 0) > 0;
  })) << delayed;
  EXPECT_EQ(delayed["events"][0]["trust"], "exact");
  EXPECT_EQ(delayed["events"][1]["trust"], "partial");
  std::int64_t sum = 0;
  for (const std::int64_t one : of_event(delayed["processes"], 0)) sum += one;
  EXPECT_EQ(sum, value(delayed, 0)) << "the counts of each process are also of that time";
}

TEST(EngineTiming, a_time_out_ends_the_program_and_the_counts) {
  const TemporaryFile fifo("fifo");
  ASSERT_EQ(mkfifo(fifo.path().c_str(), 0600), 0);
  json result;
  EXPECT_TRUE(is_true_with_time([&](int factor) {
    result = result_of({"--backend", "engine", "-e", "instructions,loads", "--timeout", std::to_string(300 * factor),
                        "--", "sh", "-c",
                        "trap 'j=0; while [ $j -lt 100000 ]; do j=$((j+1)); done; exit 7' TERM; exec 3<>" +
                            fifo.path() + "; read x <&3; read x <&3"});
    return result["exit_code"] == 7;
  })) << result;
  EXPECT_EQ(result["events"][0]["trust"], "exact") << result["events"][0]["reason"];
  EXPECT_LT(value(result, 0), 2000000) << "what it executed after the time-out is not counted";
}

#endif

TEST(Attach, top_down_of_processors_names_no_option_that_was_not_given) {
  const Finished refused = tally({"stat", "--topdown", "-a", "true"});
  if (refused.code() == 0) GTEST_SKIP() << "this machine has a PMU";
  EXPECT_EQ(refused.code(), 125);
  EXPECT_TRUE(holds(refused.err, "only for programs that tally starts")) << refused.err;
  EXPECT_FALSE(holds(refused.err, "--backend")) << refused.err;
}

TEST(Attach, without_a_pmu_says_what_can_be_counted) {
  Running program({"/bin/sleep", "100"});
  const Finished refused = tally({"stat", "-e", "instructions", "-p", std::to_string(program.pid()), "--timeout", "1"});
  program.signal(SIGTERM);
  if (refused.code() == 0) GTEST_SKIP() << "this machine has a PMU";
  EXPECT_EQ(refused.code(), 125);
  EXPECT_TRUE(holds(refused.err, "the engine counts only programs that tally starts") &&
              holds(refused.err, "-e task-clock,page-faults"))
      << refused.err;
}

}  // namespace
}  // namespace tally::test
