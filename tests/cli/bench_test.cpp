// `tally bench`: a suite, its results, the comparison with earlier ones, the history.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "tests/cli/bench_fixture.hpp"

namespace tally::test {
namespace {

namespace fs = std::filesystem;

TEST_F(Bench, compares_with_earlier_results) {
  suite("1000");
  const Finished first = bench({"-o", "old", "--history", "bench.db", "--label", "one"});
  ASSERT_EQ(first.code(), 0) << first.out << first.err;
  EXPECT_TRUE(holds(text("old/loop.json"), "\"label\": \"one\""));
  EXPECT_TRUE(holds(text("old/true.json"), "\"runs_asked\": 2"));
  const Finished same = bench({"-o", "new", "--baseline", "old", "--history", "bench.db", "--comment", "comment.md"});
  EXPECT_EQ(same.code(), 0) << same.out << same.err;
  EXPECT_TRUE(holds(text("comment.md"), "| loop | instructions:u |") && !holds(text("comment.md"), "### "))
      << text("comment.md");
  suite("1100");
  const Finished slower = bench({"-o", "new", "--baseline", "old", "--history", "bench.db", "--comment", "comment.md"});
  EXPECT_EQ(slower.code(), 1) << slower.out << slower.err;
  EXPECT_TRUE(holds(slower.out, "failed: instructions:u")) << slower.out;
  EXPECT_LT(text("comment.md").find("| loop |"), text("comment.md").find("| true |")) << "failed ones first";
  EXPECT_TRUE(holds(text("comment.md"), "### loop") && !holds(text("comment.md"), "### true")) << text("comment.md");
  const Finished history = tally({"history", (folder_ / "bench.db").string(), "--name", "loop", "-e", "instructions"});
  EXPECT_TRUE(holds(history.out, "Changes")) << history.out;
}

TEST_F(Bench, repeats_what_may_count_something_else) {
  suite("10",
        "[[benchmark]]\nname = \"plain\"\ncommand = [\"true\"]\n"
        "[[benchmark]]\nname = \"reads_a_clock\"\ncommand = [\"date\"]\n"
        "[[benchmark]]\nname = \"once\"\ncommand = [\"date\"]\nrepeats = 1\n"
        "[[benchmark]]\nname = \"two_processes\"\ncommand = [\"sh\", \"-c\", \"true | true\"]\n");
  ASSERT_EQ(bench().code(), 0);
  for (const auto& [name, runs] :
       {std::pair{"plain", "1"}, {"reads_a_clock", "5"}, {"once", "1"}, {"two_processes", "5"}})
    EXPECT_TRUE(holds(text(std::string("tally-results/") + name + ".json"), std::string("\"runs_asked\": ") + runs))
        << name;
}

TEST_F(Bench, leaves_undecided_what_depends_on_the_process_id) {
  const std::string loop = "read end <end; i=0; while [ $i -lt $((end + $$ % 53)) ]; do i=$((i + 1)); done";
  suite("1000", "[[benchmark]]\nname = \"by_id\"\ndirectory = \"sub\"\ncommand = [\"sh\", \"-c\", \"" + loop + "\"]\n");
  ASSERT_EQ(bench({"-o", "old", "--only", "by_id"}).code(), 0);
  EXPECT_TRUE(holds(text("old/by_id.json"), "\"runs_asked\": 5"));
  const Finished same = bench({"-o", "new", "--baseline", "old", "--only", "by_id"});
  EXPECT_EQ(same.code(), 3) << "another process ID is more or less work" << same.out << same.err;
  suite("2000", "[[benchmark]]\nname = \"by_id\"\ndirectory = \"sub\"\ncommand = [\"sh\", \"-c\", \"" + loop + "\"]\n");
  EXPECT_EQ(bench({"-o", "new", "--baseline", "old", "--only", "by_id"}).code(), 1) << "twice the work";
  const auto once = [&](const Words& more) {
    return tally(with(with({"stat", "-q", "--backend", "engine", "--repeatable", "-e", "instructions"}, more),
                      {"--", "env", "-C", (folder_ / "sub").string(), "sh", "-c", loop}));
  };
  const std::string first = (folder_ / "first.json").string();
  ASSERT_EQ(once({"-o", first}).code(), 0);
  const Finished second = once({"--baseline", first, "--fail-above", "instructions=1%"});
  EXPECT_TRUE(second.code() == 3 && holds(second.out + second.err, "what differs between runs (pid)"))
      << second.out << second.err;
}

TEST_F(Bench, leaves_undecided_what_lacks_work_of_a_process_that_was_still_running) {
  const auto daemon = [&](const char* setting) {
    suite("10", std::string("[[benchmark]]\nname = \"daemon\"\n"
                            "command = [\"sh\", \"-c\", \"{ sleep 1; seq 100000; } >seq.out 2>&1 &\"]\n") +
                    setting);
  };
  daemon("");
  const Finished first = bench({"-o", "old", "--only", "daemon"});
  EXPECT_TRUE(holds(first.out, "still running, so work is missing") && holds(first.out, "wait-all = true"))
      << first.out << first.err;
  const Finished same = bench({"-o", "new", "--baseline", "old", "--only", "daemon", "--comment", "comment.md"});
  EXPECT_EQ(same.code(), 3) << same.out << same.err;
  for (const std::string& where : {same.out, text("comment.md")})
    EXPECT_TRUE(holds(where, "still running, so work is missing: write wait-all = true")) << where;
  daemon("wait-all = true\n");
  ASSERT_EQ(bench({"-o", "old", "--only", "daemon"}).code(), 0);
  const Finished waited = bench({"-o", "new", "--baseline", "old", "--only", "daemon"});
  EXPECT_TRUE(waited.code() == 0 && holds(waited.out, "passed")) << waited.out << waited.err;
}

TEST_F(Bench, refuses_a_baseline_that_lacks_a_result) {
  suite("1000");
  ASSERT_EQ(bench({"-o", "old"}).code(), 0);
  fs::remove(folder_ / "old/true.json");
  const Finished cut = bench({"-o", "new", "--baseline", "old", "--comment", "comment.md"});
  EXPECT_EQ(cut.code(), 2) << cut.out << cut.err;
  for (const std::string& where : {cut.out, text("comment.md")})
    EXPECT_TRUE(holds(where, "baseline incomplete") && holds(where, "'old/true.json' was lost")) << where;
  EXPECT_TRUE(holds(cut.out, "passed")) << cut.out;
  ASSERT_EQ(bench({"-o", "old", "--only", "true"}).code(), 0);
  EXPECT_EQ(bench({"-o", "new", "--baseline", "old"}).code(), 0) << "--only keeps the list";
  suite("1000", "[[benchmark]]\nname = \"more\"\ncommand = [\"true\"]\n");
  const Finished more = bench({"-o", "new", "--baseline", "old"});
  EXPECT_TRUE(more.code() == 0 && holds(more.out, "new")) << more.out << more.err;
}

TEST_F(Bench, checks_the_list_of_removed_benchmarks) {
  suite("10", "");
  const std::string before = text("tally-bench.toml");
  ASSERT_EQ(bench({"-o", "old"}).code(), 0);
  std::ofstream(folder_ / "tally-bench.toml") << "removed = [\"true\"]\n" << before;
  const Finished wrong = bench({"-o", "new", "--baseline", "old"});
  EXPECT_TRUE(wrong.code() == 2 && holds(wrong.err, "'removed' names 'true', which the suite has")) << wrong.err;
  std::ofstream(folder_ / "tally-bench.toml") << "removed = [\"ture\"]\n" << before;
  const Finished never = bench({"-o", "new", "--baseline", "old"});
  EXPECT_TRUE(never.code() == 0 && holds(never.err, "'removed' names 'ture', of which the baseline has no result"))
      << never.err;
}

TEST_F(Bench, asks_about_counts_that_fell_and_functions_that_grew) {
  suite("1000");
  ASSERT_EQ(bench({"-o", "old", "--only", "loop"}).code(), 0);
  suite("500");
  const Finished fell = bench({"-o", "new", "--baseline", "old", "--only", "loop", "--comment", "comment.md"});
  EXPECT_EQ(fell.code(), 0) << fell.err;
  for (const std::string& where : {fell.out, text("comment.md")})
    EXPECT_TRUE(std::regex_search(where, std::regex("fell by [0-9.]+ %: is all the work still done"))) << where;
}

TEST_F(Bench, records_the_profile_of_a_varying_program_once) {
  suite("10", "[[benchmark]]\nname = \"log\"\ncommand = [\"sh\", \"-c\", \"date >>dates\"]\nprofile = true\n");
  for (int runs = 6; runs <= 12; runs += 6) {
    ASSERT_EQ(bench({"--only", "log"}).code(), 0);
    const std::string dates = text("dates");
    EXPECT_EQ(std::count(dates.begin(), dates.end(), '\n'), runs) << "one profile and five counts";
    EXPECT_TRUE(holds(text("tally-results/log.json"), "\"runs_asked\": 5"));
    EXPECT_TRUE(holds(text("tally-results/profiles/log.json"), "\"functions\""));
  }
}

TEST_F(Bench, leaves_gates_of_functions_undecided_without_their_event) {
  const std::string more = "[[benchmark]]\nname = \"f\"\ncommand = [\"" + std::string(TWO_LOOPS) +
                           "\"]\nprofile = true\nrepeats = 2\nevents = []\nfail-above = [\"branches@main=1%\"]\n";
  suite("10", more);
  ASSERT_EQ(bench({"--only", "f", "-o", "old"}).code(), 0);
  const Finished finished = bench({"--only", "f", "-o", "new", "--baseline", "old"});
  EXPECT_EQ(finished.code(), 3) << finished.out;
  EXPECT_TRUE(holds(finished.out, "a profile does not have this event")) << finished.out;
}

TEST_F(Bench, reports_benchmarks_that_cannot_run) {
  suite("10", "[[benchmark]]\nname = \"broken\"\ncommand = [\"sh\", \"-c\", \"echo because; exit 3\"]\n");
  const Finished finished = bench();
  EXPECT_EQ(finished.code(), 125);
  EXPECT_TRUE(holds(finished.err, "'broken' failed with exit code 3") && holds(finished.err, "because"))
      << finished.err;
  EXPECT_FALSE(text("tally-results/loop.json").empty()) << "the others are counted";
  EXPECT_EQ(bench({"--only", "true"}).code(), 0);
  EXPECT_EQ(bench({"--only", "tru"}).code(), 2);
  EXPECT_TRUE(holds(bench({"--list"}).out, "broken  sh -c 'echo because; exit 3'"));
}

TEST_F(Bench, reports_failed_gates_next_to_programs_that_fail_and_new_benchmarks) {
  suite("1000");
  ASSERT_EQ(bench({"-o", "old"}).code(), 0);
  suite("1100",
        "[[benchmark]]\nname = \"broken\"\ncommand = [\"false\"]\n"
        "[[benchmark]]\nname = \"added: a\"\ncommand = [\"true\"]\n");
  const Finished both = bench({"-o", "new", "--baseline", "old", "--comment", "comment.md"});
  EXPECT_EQ(both.code(), 1) << both.out << both.err;
  EXPECT_TRUE(std::regex_search(both.out, std::regex("added: a +instructions:u +- +[0-9,]+ +new"))) << both.out;
  EXPECT_TRUE(holds(both.out, "added: a: new: the baseline has no result of it")) << both.out;
  EXPECT_TRUE(fs::exists(folder_ / "new/added- a.json"));
  EXPECT_TRUE(std::regex_search(both.out, std::regex("broken +- +exit code 1"))) << both.out;
  EXPECT_TRUE(holds(text("comment.md"), "### broken")) << text("comment.md");
  suite("1000", "[[benchmark]]\nname = \"added: a\"\ncommand = [\"true\"]\n");
  EXPECT_EQ(bench({"-o", "new", "--baseline", "old"}).code(), 0) << "a new benchmark passes";
}

TEST_F(Bench, leaves_no_comment_of_an_earlier_run_when_it_ends_early) {
  suite("10");
  std::ofstream(folder_ / "comment.md") << "**tally: passed: every gate**\n";
  EXPECT_EQ(bench({"--baseline", "missing", "--comment", "comment.md"}).code(), 2);
  EXPECT_TRUE(text("comment.md").starts_with("**tally: nothing was compared**")) << text("comment.md");
}

TEST_F(Bench, writes_a_comment_into_the_directory_of_results) {
  suite("10");
  EXPECT_EQ(bench({"-o", "results", "--comment", "results/comment.md"}).code(), 0);
  EXPECT_TRUE(holds(text("results/comment.md"), "| loop |")) << text("results/comment.md");
}

TEST_F(Bench, is_not_among_the_commands_with_gates) {
  const std::string topic = tally({"help", "results"}).out;
  EXPECT_TRUE(holds(topic, "`tally bench`") && holds(topic, "(only `tally stat`,")) << topic;
}

TEST_F(Bench, prints_the_counts_of_each_benchmark_also_if_it_passes) {
  suite("1000");
  const Finished counted = bench({"-o", "old"});
  EXPECT_TRUE(std::regex_search(counted.out, std::regex("loop +instructions:u +- +[0-9,]+ +counted"))) << counted.out;
  const Finished same = bench({"-o", "new", "--baseline", "old"});
  EXPECT_TRUE(std::regex_search(
      same.out, std::regex("loop +instructions:u +([0-9,]+) +\\1 +0 +1% +passed\n true +instructions:u .* passed")))
      << same.out;
  suite("1100");
  const Finished slower = bench({"-o", "new", "--baseline", "old"});
  EXPECT_TRUE(std::regex_search(slower.out, std::regex("loop +instructions:u .* \\+[0-9.]+ % +1% +failed")))
      << slower.out;
}

TEST_F(Bench, leaves_no_result_of_a_benchmark_that_failed) {
  suite("10", "[[benchmark]]\nname = \"later\"\ncommand = [\"test\", \"-e\", \"works\"]\n");
  std::ofstream(folder_ / "works") << "";
  EXPECT_EQ(bench({"-o", "old"}).code(), 0);
  EXPECT_TRUE(fs::exists(folder_ / "old/later.json"));
  fs::remove(folder_ / "works");
  const Finished failed = bench({"-o", "old"});
  EXPECT_EQ(failed.code(), 125);
  EXPECT_TRUE(std::regex_search(failed.out, std::regex("later .* exit code 1"))) << failed.out;
  EXPECT_FALSE(fs::exists(folder_ / "old/later.json")) << "neither its own nor that of the call before";
  EXPECT_TRUE(fs::exists(folder_ / "old/loop.json"));
}

TEST_F(Bench, runs_with_the_settings_of_the_suite_and_of_the_benchmark) {
  suite("10",
        "[[benchmark]]\nname = \"set\"\ncommand = [\"true\"]\nclock = \"counted\"\nenvironment = \"fixed\"\n"
        "cpu-model = \"x86-64-v2\"\nmodel = \"haswell\"\nprecision = \"full\"\nprefetch = \"on\"\n");
  ASSERT_EQ(bench({"--only", "set"}).code(), 0);
  const std::string result = text("tally-results/set.json");
  for (const char* const part : {"\"counted\"", "\"fixed\"", "\"x86-64-v2\"", "\"haswell\"", "\"full\"", "\"on\""})
    EXPECT_TRUE(holds(result, part)) << part;
  suite("10",
        "[[benchmark]]\nname = \"set\"\ncommand = [\"touch\", \"ran\"]\nclock = \"counte\"\n"
        "[[benchmark]]\nname = \"two\"\ncommand = [\"true\"]\ncpu-model = \"x86\"\n"
        "[[benchmark]]\nname = \"three\"\ncommand = [\"true\"]\nmodel = \"hashwell\"\n");
  const Finished wrong = bench();
  EXPECT_EQ(wrong.code(), 2);
  for (const char* const part : {"benchmark 'set': --clock: counte", "benchmark 'two': ", "benchmark 'three': "})
    EXPECT_TRUE(holds(wrong.err, part)) << part << " in " << wrong.err;
  EXPECT_FALSE(fs::exists(folder_ / "ran")) << "before anything runs";
}

TEST_F(Bench, judges_the_growth_over_the_last_results) {
  const std::string creep =
      "[[benchmark]]\nname = \"creep\"\ndirectory = \"sub\"\nfail-above = [\"instructions=1%\", "
      "\"instructions=1%/20\"]\n"
      "command = [\"sh\", \"-c\", \"read end <end; i=0; while [ $i -lt $end ]; do i=$((i + 1)); done\"]\n";
  const Finished first = (suite("1000", creep), bench({"-o", "first"}));
  EXPECT_EQ(first.code(), 0);
  EXPECT_NE(first.err.find("are not checked without --history"), std::string::npos) << first.err;
  EXPECT_EQ(bench({"-o", "next", "--baseline", "first"}).code(), 2) << "without a history";
  const auto run = [&](const char* rounds, const char* from, const char* to) {
    suite(rounds, creep);
    return bench({"-o", to, "--baseline", from, "--history", "bench.db", "--only", "creep", "--label", rounds,
                  "--comment", "comment.md"});
  };
  fs::create_directories(folder_ / "empty");
  EXPECT_EQ(run("1000", "empty", "two").code(), 2) << "all gates would pass";
  EXPECT_EQ(run("1000", "first", "two").code(), 0);
  EXPECT_EQ(run("1007", "two", "one").code(), 0);
  const Finished last = run("1014", "one", "two");
  EXPECT_EQ(last.code(), 1) << last.out;
  EXPECT_TRUE(
      std::regex_search(last.out, std::regex("instructions:u .* 1% +passed\n.*instructions:u .* 1%/20 +failed")))
      << last.out;
  EXPECT_TRUE(holds(last.out, "over the last 2 results: +") && holds(last.out, "at 1007") && holds(last.out, "at 1014"))
      << last.out;
  EXPECT_TRUE(holds(last.out, "failed: instructions:u: +") && holds(last.out, "; above 1%/20")) << last.out;
  const std::string comment = text("comment.md");
  EXPECT_TRUE(holds(comment, "**tally: failed: instructions:u: +")) << comment;
  EXPECT_FALSE(holds(comment, "passed: every gate")) << comment;
}

TEST_F(Bench, begins_limits_of_growth_at_an_accepted_result) {
  const auto run = [&](const std::string& rounds, const std::string& accept) {
    suite(rounds, "[[benchmark]]\nname = \"step\"\ndirectory = \"sub\"\nfail-above = [\"instructions=1%/20\"]\n" +
                      accept +
                      "stdin = \"end\"\n"
                      "command = [\"sh\", \"-c\", \"read end; i=0; while [ $i -lt $end ]; do i=$((i + 1)); done\"]\n");
    // A result of the same second needs another label: the history ignores equal ones.
    return bench({"--history", "bench.db", "--only", "step", "--label", rounds + accept.substr(0, 6)});
  };
  ASSERT_EQ(run("1000", "").code(), 0);
  EXPECT_EQ(run("1100", "").code(), 1);
  EXPECT_EQ(run("1101", "").code(), 1) << "also in the results after the step";
  const Finished accepted = run("1101", "accept = \"more checks\"\n");
  EXPECT_EQ(accepted.code(), 0) << accepted.out;
  EXPECT_TRUE(holds(accepted.out, "limits of growth begin at the accepted 1101accept (more checks)")) << accepted.out;
  const Finished later = run("1103", "accept = \"more checks\"\n");
  EXPECT_EQ(later.code(), 0) << later.out;
  EXPECT_TRUE(holds(later.out, "over the last 1 result, since the accepted 1101accept (more checks)")) << later.out;
  EXPECT_EQ(run("1200", "accept = \"more checks\"\n").code(), 1) << "the next step needs another text";
  const std::string file = (folder_ / "bench.db").string();
  EXPECT_TRUE(std::regex_search(tally({"history", file}).out, std::regex("Accepted.*\n.*\n.*\n step .* more checks")));
  EXPECT_TRUE(holds(tally({"history", file, "--format", "json", "-o", "-"}).out, "\"accepted\": \"more checks\""));
  ASSERT_EQ(tally({"report", file, "-o", (folder_ / "page.html").string()}).code(), 0);
  EXPECT_TRUE(holds(text("page.html"), "Accepted: limits of growth begin there") &&
              holds(text("page.html"), "more checks"));
}

TEST_F(Bench, stops_programs_that_take_longer_than_their_timeout) {
  suite("10",
        "[[benchmark]]\nname = \"hang\"\ncommand = [\"sh\", \"-c\", \"echo $$ >pid; exec sleep 1000\"]\ntimeout = 1\n");
  const Finished finished = bench({"--only", "hang"});
  EXPECT_EQ(finished.code(), 125) << finished.out;
  EXPECT_TRUE(holds(finished.out, "hang: failed: timeout of 1 s")) << finished.out;
  // A process that was killed exists until its new parent has waited for it.
  const auto is_running = [&] {
    std::ifstream status("/proc/" + text("pid").substr(0, text("pid").find('\n')) + "/status");
    std::string line;
    while (std::getline(status, line))
      if (line.starts_with("State:")) return line.find('Z') == std::string::npos;
    return false;
  };
  EXPECT_FALSE(is_running()) << "the program ends, too";
  suite("10",
        "[[benchmark]]\nname = \"child\"\ncommand = [\"sh\", \"-c\", \"trap '' TERM; sh -c 'echo $$ >pid; exec sleep "
        "1000'\"]\ntimeout = 1\n");
  EXPECT_EQ(bench({"--only", "child"}).code(), 125);
  EXPECT_FALSE(is_running()) << "a child that ignores SIGTERM";
  suite("10", "[[benchmark]]\nname = \"input\"\ncommand = [\"cat\"]\nstdin = \"missing\"\n");
  const Finished without = bench({"--only", "input"});
  EXPECT_EQ(without.code(), 125);
  EXPECT_TRUE(holds(without.out, "missing' for its standard input")) << without.out;
}

TEST_F(Bench, leaves_undecided_what_failed_in_the_baseline) {
  const std::string broken = "[[benchmark]]\nname = \"broken\"\ncommand = [\"test\", \"-e\", \"works\"]\n";
  suite("10", broken);
  ASSERT_EQ(bench({"-o", "old"}).code(), 125);
  EXPECT_EQ(text("old/broken.failed"), "failed: exit code 1\n");
  const auto make_it_work = [this] {
    std::ofstream(folder_ / "works") << "";
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // a newer file would be a source of differences
  };
  make_it_work();
  const Finished after = bench({"-o", "new", "--baseline", "old", "--comment", "comment.md"});
  EXPECT_EQ(after.code(), 3) << after.out;
  EXPECT_TRUE(std::regex_search(after.out, std::regex("broken +instructions:u .* baseline failed"))) << after.out;
  EXPECT_TRUE(holds(text("comment.md"), "the baseline has no result of it (failed: exit code 1)"))
      << text("comment.md");
  EXPECT_FALSE(fs::exists(folder_ / "new/broken.failed"));
  fs::remove(folder_ / "works");
  ASSERT_EQ(bench({"-o", "all", "--only", "broken"}).code(), 125);
  make_it_work();
  EXPECT_EQ(bench({"-o", "new", "--baseline", "all", "--only", "broken"}).code(), 3) << "nothing else is there";
  EXPECT_EQ(bench({"-o", "old", "--baseline", "new"}).code(), 0);
  EXPECT_FALSE(fs::exists(folder_ / "old/broken.failed")) << "that of an earlier call";
}

TEST_F(Bench, runs_the_suite_in_another_directory) {
  suite("1000");
  fs::create_directories(folder_ / "before");
  fs::copy(folder_ / "sub", folder_ / "before/sub");
  fs::copy(folder_ / "tally-bench.toml", folder_ / "before/tally-bench.toml");
  suite("1100", "[[benchmark]]\nname = \"added\"\ncommand = [\"true\"]\n");
  const Finished before = bench({"-C", "before", "-o", "old"});
  EXPECT_EQ(before.code(), 0) << before.out << before.err;
  EXPECT_TRUE(holds(before.err, "not in 'before/tally-bench.toml', so not counted: added")) << before.err;
  const Finished after = bench({"-o", "new", "--baseline", "old"});
  EXPECT_EQ(after.code(), 1) << after.out;
  EXPECT_TRUE(std::regex_search(after.out, std::regex("loop .* failed\n(.*\n)* added .* new"))) << after.out;
  std::ofstream(folder_ / "before/tally-bench.toml", std::ios::app)
      << "[[benchmark]]\nname = \"removed\"\ncommand = [\"true\"]\n";
  suite("1000");
  ASSERT_EQ(bench({"-C", "before", "-o", "old"}).code(), 0);
  const Finished without_it = bench({"-o", "new", "--baseline", "old"});
  EXPECT_EQ(without_it.code(), 3) << without_it.out;
  EXPECT_TRUE(std::regex_search(without_it.out, std::regex("removed +missing"))) << without_it.out;
  const std::string without = text("tally-bench.toml");
  std::ofstream(folder_ / "tally-bench.toml") << "removed = [\"removed\"]\n" << without;
  EXPECT_EQ(bench({"-o", "new", "--baseline", "old"}).code(), 0) << "on purpose";
  suite("1000", "[[benchmark]]\nname = \"added\"\ncommand = [\"true\"]\n");
  fs::remove(folder_ / "before/tally-bench.toml");
  EXPECT_TRUE(holds(bench({"-C", "before", "-o", "old"}).out, " added ")) << "there is no suite to leave out others";
  EXPECT_EQ(bench({"-C", "nothing"}).code(), 2);
}

TEST_F(Bench, suggests_only_what_a_suite_can_have) {
  suite("10", "[[benchmark]]\nname = \"ends\"\ncommand = [\"sh\", \"-c\", \"true & wait\"]\nrepeats = 1\n");
  ASSERT_EQ(bench({"-o", "old"}).code(), 0);
  const Finished threads = bench({"-o", "new", "--baseline", "old"});
  EXPECT_EQ(threads.code(), 3) << threads.out;
  EXPECT_TRUE(holds(threads.out, "(repeats = 5)")) << threads.out;
  suite("10", "[[benchmark]]\nname = \"ends\"\ncommand = [\"true\", \"other\"]\ncpu-model = \"haswell\"\n");
  const Finished other = bench({"-o", "new", "--baseline", "old"});
  EXPECT_TRUE(holds(other.out, "ends: the results are of different programs")) << other.out;
  EXPECT_FALSE(holds(other.out, "--force") || holds(other.out, "(-r")) << other.out;
  EXPECT_TRUE(holds(other.out, "tally bench -o old")) << other.out;
}

TEST_F(Bench, reports_wrong_suites_and_gates) {
  EXPECT_EQ(bench().code(), 2);
  suite("10", "[[benchmark]]\nname = \"x\"\ncomand = [\"true\"]\n");
  const Finished typo = bench();
  EXPECT_EQ(typo.code(), 2);
  EXPECT_TRUE(holds(typo.err, "tally-bench.toml:14: unknown key 'comand'")) << typo.err;
  suite("10", "[[benchmark]]\nname = \"x\"\ncommand = [\"true\"]\nfail-above = [\"no-such-event=1%\"]\n");
  EXPECT_EQ(bench().code(), 2) << "without a baseline, too";
  suite("10");
  EXPECT_EQ(bench({"-o", "old", "--only", "true"}).code(), 0);
  EXPECT_EQ(bench({"-o", "old", "--baseline", "old"}).code(), 2);
  const Finished missing = bench({"--baseline", "nowhere"});
  EXPECT_EQ(missing.code(), 2);
  EXPECT_TRUE(holds(missing.err, "'nowhere' is not a directory") && holds(missing.err, "tally bench -o nowhere"))
      << missing.err;
  suite("10", "[[benchmark]]\nname = \"x\"\ncommand = [\"touch\", \"ran\"]\nfail-above = [\"instructions\"]\n");
  EXPECT_EQ(bench().code(), 2);
  EXPECT_FALSE(fs::exists(folder_ / "ran")) << "before anything runs";
}

TEST_F(Bench, suggests_a_suite_that_works) {
  const Finished none = bench();
  EXPECT_EQ(none.code(), 2);
  const std::size_t at = none.err.find("echo ");
  ASSERT_NE(at, std::string::npos) << none.err;
  ASSERT_EQ(Running({"/bin/sh", "-c", "cd " + folder_.string() + " && " + none.err.substr(at)}).finish().code(), 0);
  EXPECT_EQ(bench().code(), 0);
}

TEST_F(Bench, reports_all_wrong_gates_at_once) {
  suite("10",
        "[[benchmark]]\nname = \"x\"\ncommand = [\"touch\", \"ran\"]\nevents = [\"instructions\", \"lods\"]\n"
        "fail-above = [\"instructions\", \"stores=1%\"]\nwarn-above = [\"instrctions=1%\", \"task-clock=5\"]\n");
  const Finished finished = bench();
  EXPECT_EQ(finished.code(), 2);
  for (const char* const part : {"benchmark 'x': unknown event 'lods'", "gate 'instructions': missing '='",
                                 "gate 'stores=1%': the event is not in", "unknown event 'instrctions'",
                                 "gate 'task-clock=5': the limit of a time needs a unit"})
    EXPECT_TRUE(holds(finished.err, part)) << part << " in " << finished.err;
  EXPECT_FALSE(fs::exists(folder_ / "ran"));
}

TEST_F(Bench, names_functions_of_a_profile) {
  for (const std::string repeats : {"1", "2"}) {
    const std::string loop = R"(static __attribute__((noinline)) int count(int n) {
  volatile int i = 0;
  while (i < n) ++i;
  return i;
}
int main(void) { return count(STEPS) == 0; }
)";
    std::ofstream(folder_ / "loop.c") << loop;
    const auto build = [&](const std::string& steps) {
      const Words words{"/usr/bin/env",
                        "gcc",
                        "-O1",
                        "-g",
                        "-DSTEPS=" + steps,
                        "-o",
                        folder_.string() + "/loop",
                        folder_.string() + "/loop.c"};
      ASSERT_EQ(Running(words).finish().code(), 0);
    };
    std::ofstream(folder_ / "tally-bench.toml")
        << "[[benchmark]]\nname = \"loop\"\ncommand = [\"./loop\"]\nprofile = true\n"
           "fail-above = [\"instructions@count=1%\", \"instructions=1%\"]\nrepeats = " +
               repeats + "\n";
    build("1000");
    EXPECT_EQ(bench({"-o", "old", "--history", "bench.db"}).code(), 0);
    build("1100");
    const Finished slower =
        bench({"-o", "new", "--baseline", "old", "--history", "bench.db", "--comment", "comment.md"});
    EXPECT_EQ(slower.code(), 1) << slower.out << slower.err;
    EXPECT_TRUE(holds(slower.out, "failed: instructions:u of count")) << slower.out;
    EXPECT_TRUE(holds(slower.out, "largest change: count") || holds(slower.out, "instructions:u of count"));
    EXPECT_TRUE(holds(text("comment.md"), "| count |")) << text("comment.md");
    const Finished history =
        tally({"history", (folder_ / "bench.db").string(), "--name", "loop", "-e", "instructions"});
    EXPECT_TRUE(holds(history.out, repeats == "1" ? " 2 " : " 4 ")) << history.out;
  }
}

// A program that executes 1.1 % more in one function, built in another directory: the gate fails, and names it.
TEST_F(Bench, names_functions_of_other_languages) {
  if (tally({"stat", "-q", "--backend", "engine", "-e", "instructions", "--", "true"}).code() != 0)
    GTEST_SKIP() << "the engine does not count here";
  struct Program {
    std::string command, file, text, function;
  };
  std::string skipped;
  for (const Program& program :
       {Program{
            R"("/usr/bin/python3.11", "a.py")", "a.py",
            "def parse(n):\n    t = 0\n    for i in range(n + n * MORE // 1000):\n        t += i & 7\n    return t\n"
            "parse(300000)\nparse(20)\n",
            "parse (a.py)"},
        Program{R"("node", "a.js")", "a.js",
                "function parse(n) { let t = 0; for (let i = 0; i < n + n * MORE / 1000; i++) t = (t * 31 + i) | 0; "
                "return t; }\nlet t = 0; for (let r = 0; r < 400; r++) t += parse(100000);\nconsole.log(t);\n",
                "JS:*parse"}}) {
    const std::string name = program.command.substr(1, program.command.find('"', 1) - 1);
    if (Running({"/usr/bin/env", name, "--version"}).finish().code() != 0) {
      skipped += name + " is not installed; ";
      continue;
    }
    for (const std::string side : {"old", "new"}) {
      fs::create_directories(folder_ / side);
      std::string text = program.text;
      text.replace(text.find("MORE"), 4, side == "old" ? "0" : "13");
      std::ofstream(folder_ / side / program.file) << text;
    }
    const auto count = [&](const std::string& side, const Words& more) {
      std::ofstream(folder_ / "tally-bench.toml")
          << "[[benchmark]]\nname = \"x\"\nprofile = true\nevents = [\"instructions\"]\n"
             "fail-above = [\"instructions=1%\"]\nenvironment = \"fixed\"\ndirectory = \""
          << side << "\"\ncommand = [" << program.command << "]\n"
          << (name == "node" ? "language = \"node\"\nrepeats = 1\n" : "");
      return bench(with({"-o", "results-" + side}, more));
    };
    ASSERT_EQ(count("old", {}).code(), 0);
    const Finished slower = count("new", {"--baseline", "results-old", "--comment", "comment.md"});
    EXPECT_TRUE(holds(text("comment.md"), program.function == "JS:*parse" ? "parse " : "| parse (a.py) |"))
        << text("comment.md");
    // Node has several threads, so that a single run of it is undecided.
    EXPECT_EQ(slower.code(), name == "node" ? 3 : 1) << slower.out << slower.err;
    if (name != "node") EXPECT_TRUE(holds(slower.out, "largest change: " + program.function)) << slower.out;
  }
  if (!skipped.empty()) GTEST_SKIP() << skipped;
}

}  // namespace
}  // namespace tally::test
