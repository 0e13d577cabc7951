// `tally profile` natively, by samples of software events: they are available on every machine that permits perf.
#include <gtest/gtest.h>

#include <signal.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

using Json = nlohmann::json;

struct SampledRun {
  Finished finished;
  Json json;

  bool any() const { return json.is_object(); }
  /// Samples in the functions of this name in files of that name.
  std::int64_t of(const std::string& name, const char* what = "counts") const {
    std::int64_t sum = 0;
    for (const Json& function : json["functions"])
      if (function["name"] == name) sum += function[what][0].get<std::int64_t>();
    return sum;
  }
  double share(const std::string& name) const {
    return static_cast<double>(of(name)) / json["events"][0]["value"].get<double>();
  }
  std::int64_t sum(const char* what) const {
    std::int64_t all = 0;
    for (const Json& function : json["functions"]) all += function[what][0].get<std::int64_t>();
    return all;
  }
};

SampledRun sampled(Words words) {
  const TemporaryFile file("samples.json");
  words.insert(words.begin(), {"profile", "-q", "--format", "json", "-o", file.path()});
  SampledRun made;
  made.finished = tally(words);
  made.json = Json::parse(file.content().value_or(""), nullptr, false);
  return made;
}

class ProfileSamples : public testing::Test {
 protected:
  void SetUp() override {
    const Finished tried = tally({"profile", "-q", "-e", "page-faults", "--", "true"});
    if (tried.code() == 125) GTEST_SKIP() << "the kernel lets nobody sample here: " << tried.err;
  }
};

TEST_F(ProfileSamples, have_every_page_fault) {
  const SampledRun one = sampled({"-e", "page-faults", "--", SAMPLED, "touch", "3000"});
  ASSERT_TRUE(one.any()) << one.finished.err;
  const Json& event = one.json["events"][0];
  EXPECT_EQ(event["trust"], "counted") << event["reason"];
  EXPECT_EQ(event["value"], event["sampling"]["counted"]) << "the raw value of the counter";
  EXPECT_EQ(event["sampling"]["every"], 1);
  EXPECT_EQ(one.sum("counts"), event["value"]);
  EXPECT_EQ(one.of("touch"), 3000);
  EXPECT_EQ(one.json["backend"], "perf");
}

/// Each function has the share of the time that it is given, within the intervals that the samples state; the odds that
/// one of the intervals misses are 1 in 20, so the test takes them three times as wide.
TEST_F(ProfileSamples, have_shares_of_time_with_their_intervals) {
  for (const char* clock : {"cpu-clock", "task-clock"}) {
    const SampledRun one = sampled({"-e", clock, "--user", "--", SAMPLED, "spin", "300"});
    ASSERT_TRUE(one.any()) << one.finished.err;
    const Json& event = one.json["events"][0];
    EXPECT_NE(event["trust"], "exact");
    EXPECT_EQ(event["sampling"]["frequency"], 3989);
    EXPECT_EQ(one.sum("samples"), event["sampling"]["samples"]);
    EXPECT_EQ(one.sum("counts"), event["value"]);
    const double two = static_cast<double>(one.of("two_thirds")), third = static_cast<double>(one.of("one_third"));
    ASSERT_GT(third, 0) << one.json;
    for (const Json& object : one.json["objects"]) EXPECT_NE(object["name"], "[kernel]") << "--user";
    const double share = two / (two + third);
    const double samples = static_cast<double>(one.of("two_thirds", "samples") + one.of("one_third", "samples"));
    EXPECT_NEAR(share, 2.0 / 3, 3 * 1.96 * std::sqrt(2.0 / 9 / samples)) << samples;
    for (const Json& function : one.json["functions"]) {
      const double own = function["counts"][0].get<double>() / event["value"].get<double>();
      EXPECT_LE(function["share_intervals"][0][0].get<double>(), own);
      EXPECT_GE(function["share_intervals"][0][1].get<double>(), own);
    }
  }
}

/// What `perf report` shows of one function: its share of all samples, and its number of samples.
struct PerfReportRow {
  double share = 0;
  std::int64_t samples = 0;
};
PerfReportRow by_perf(const std::string& options, const std::string& command, const std::string& function) {
  const TemporaryFile data("perf.data");
  const Finished text = Running({"/bin/sh", "-c",
                                 "perf record -q " + options + " -o " + data.path() + " -- " + command +
                                     " >/dev/null 2>&1; perf report -q --stdio -F overhead,sample,symbol -i " +
                                     data.path() + " 2>/dev/null"})
                            .finish();
  std::istringstream lines(text.out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    PerfReportRow read;
    std::string percent, kind, name;  // "66.52%  1657  [.] two_thirds"
    if (!(words >> percent >> read.samples >> kind >> name) || name != function) continue;
    read.share = std::stod(percent);
    return read;
  }
  return {};
}

/// The same as `perf record` and `perf report`: every page fault, and shares of time within both intervals.
TEST_F(ProfileSamples, agree_with_perf) {
  const std::string program = SAMPLED;
  const PerfReportRow faults = by_perf("-c 1 -e page-faults", program + " touch 2500", "touch");
  if (faults.samples == 0) GTEST_SKIP() << "perf is not installed, or may not be used";
  EXPECT_EQ(sampled({"-e", "page-faults", "--", SAMPLED, "touch", "2500"}).of("touch"), faults.samples);
  const PerfReportRow time = by_perf("-F 3989 -e cpu-clock:u", program + " spin 300", "two_thirds");
  const SampledRun ours = sampled({"-e", "cpu-clock", "--user", "--", SAMPLED, "spin", "300"});
  ASSERT_TRUE(ours.any()) << ours.finished.err;
  const double samples = ours.json["events"][0]["sampling"]["samples"].get<double>();
  const double error = std::sqrt(2.0 / 9 / samples + 2.0 / 9 / (1.5 * static_cast<double>(time.samples)));
  EXPECT_NEAR(ours.share("two_thirds"), time.share / 100, 3 * 1.96 * error);
}

TEST_F(ProfileSamples, follow_threads_children_and_other_programs) {
  const SampledRun one =
      sampled({"-e", "page-faults", "--", "sh", "-c",
               std::string(SAMPLED) + " threads 500; (exec " + SAMPLED + " fork 700); exec " + SAMPLED + " touch 900"});
  ASSERT_TRUE(one.any()) << one.finished.err;
  EXPECT_EQ(one.of("touch"), 2 * 500 + 2 * 700 + 900);
  std::size_t named = 0;
  for (const Json& thread : one.json["threads"]) named += thread["command"] == "sampled";
  EXPECT_GE(named, 5u) << one.json["threads"];
}

TEST_F(ProfileSamples, have_calls_by_frame_pointers) {
  const SampledRun one = sampled({"--calls", "-e", "page-faults", "--", SAMPLED, "recurse", "200"});
  ASSERT_TRUE(one.any()) << one.finished.err;
  std::int64_t by_outer = 0;
  for (const Json& call : one.json["calls"]) {
    const auto name = [&](const char* end) { return one.json["functions"][call[end].get<std::size_t>()]["name"]; };
    if (name("caller") == "main" && name("callee") == "recurse") by_outer += call["inclusive"][0].get<std::int64_t>();
    EXPECT_TRUE(call["calls"].is_null());
    EXPECT_FALSE(name("caller") == "recurse" && name("callee") == "recurse") << "a recursive function is shown once";
  }
  EXPECT_GE(by_outer, 200);
  EXPECT_LT(by_outer, 400);
  const TemporaryFile stacks("stacks.txt");
  ASSERT_EQ(tally({"profile", "-q", "-e", "page-faults", "--format", "folded", "-o", stacks.path(), "--", SAMPLED,
                   "recurse", "200"})
                .code(),
            0);
  EXPECT_NE(stacks.content().value_or("").find("main;recurse;touch 200"), std::string::npos)
      << stacks.content().value_or("");
}

TEST_F(ProfileSamples, are_reported_as_samples) {
  const Finished clock = tally({"profile", "-q", "-e", "cpu-clock", "--every", "1ms", "--", SAMPLED, "spin", "30"});
  EXPECT_NE(clock.err.find("cpu-clock: sampled, every 1,000,000 ns"), std::string::npos) << clock.err;
  EXPECT_NE(clock.err.find("95 % interval"), std::string::npos) << clock.err;
  EXPECT_NE(clock.err.find("trust: sampled"), std::string::npos) << clock.err;
  const Finished faults = tally({"profile", "-q", "-e", "page-faults", "--", SAMPLED, "touch", "100"});
  EXPECT_NE(faults.err.find("page-faults: every one"), std::string::npos) << faults.err;
  EXPECT_NE(faults.err.find("trust: counted"), std::string::npos) << faults.err;
  EXPECT_EQ(faults.err.find("95 % interval"), std::string::npos) << faults.err;
  const Finished some = tally({"profile", "-q", "-e", "page-faults", "--every", "10", "--", SAMPLED, "touch", "1000"});
  EXPECT_NE(some.err.find("page-faults: sampled, one of 10"), std::string::npos) << some.err;
  const SampledRun tenth = sampled({"-e", "page-faults", "--every", "10", "--", SAMPLED, "touch", "3000"});
  ASSERT_TRUE(tenth.any()) << tenth.finished.err;
  EXPECT_NEAR(static_cast<double>(tenth.of("touch")), 3000, 10);
  EXPECT_EQ(tenth.of("touch") % 10, 0);
  EXPECT_LE(tenth.json["events"][0]["sampling"]["samples"],
            tenth.json["events"][0]["sampling"]["counted"].get<long>() / 10);
}

TEST_F(ProfileSamples, of_running_processes) {
  Running program({SAMPLED, "serve"});
  const SampledRun one = sampled({"-e", "page-faults", "-p", std::to_string(program.pid())});
  // The program touches pages as long as it lives, and ends by itself.
  EXPECT_EQ(program.finish().code(), 0);
  ASSERT_TRUE(one.any()) << one.finished.err;
  EXPECT_GT(one.of("touch"), 0) << one.json;
  EXPECT_EQ(one.finished.code(), 0) << one.finished.err;
}

TEST_F(ProfileSamples, of_running_processes_for_a_while) {
  // Each attaches to a program that still runs for seconds.
  const auto attached = [](const Words& more) {
    Running program({SAMPLED, "serve"});
    const SampledRun run = sampled(with({"-e", "page-faults", "-p", std::to_string(program.pid())}, more));
    EXPECT_TRUE(program.finish().code() == 0) << "it was left alone";
    return run;
  };
  const SampledRun during = attached({"--", "sh", "-c", "sleep 0.1; exit 7"});
  ASSERT_TRUE(during.any()) << during.finished.err;
  EXPECT_GT(during.of("touch"), 0) << during.json;
  EXPECT_LT(during.of("touch"), 30000) << "not until its end";
  EXPECT_EQ(during.finished.code(), 7) << during.finished.err;
  const SampledRun timed = attached({"--timeout", "100"});
  ASSERT_TRUE(timed.any()) << timed.finished.err;
  EXPECT_LT(timed.of("touch"), 30000) << timed.json;
  EXPECT_EQ(timed.finished.code(), 0) << timed.finished.err;
}

// An upgrade replaces the files of services that go on.
TEST_F(ProfileSamples, of_running_processes_whose_file_was_removed_or_replaced) {
  for (const bool replaced : {false, true}) {
    const TemporaryFile copy("served");
    std::filesystem::copy_file(SAMPLED, copy.path(), std::filesystem::copy_options::overwrite_existing);
    Running program({copy.path(), "serve"});
    std::filesystem::remove(copy.path());
    if (replaced) std::filesystem::copy_file("/bin/true", copy.path());
    const SampledRun one = sampled({"-e", "page-faults", "-p", std::to_string(program.pid()), "--timeout", "100"});
    EXPECT_EQ(program.finish().code(), 0);
    ASSERT_TRUE(one.any()) << one.finished.err;
    EXPECT_GT(one.of("touch"), 0) << one.json;
  }
}

// 90 % of the time is in one function, which another one calls.
TEST_F(ProfileSamples, of_a_running_python) {
  const std::string python = "/usr/bin/python3.11";
  if (access(python.c_str(), X_OK) != 0) GTEST_SKIP() << "there is no " << python;
  const TemporaryFile script("spin.py",
                             "def hot():\n  for i in range(9000): pass\ndef cold():\n  for i in range(1000): pass\n"
                             "def both():\n  while True:\n    hot()\n    cold()\nboth()\n");
  Running program({python, script.path()});
  const SampledRun run = sampled({"-e", "cpu-clock", "-p", std::to_string(program.pid()), "--", "sleep", "1.5"});
  kill(program.pid(), SIGKILL);
  ASSERT_TRUE(run.any()) << run.finished.err;
  std::map<std::string, std::pair<double, double>> times;  // self, inclusive
  for (const auto& function : run.json["python"]) {
    times[function["name"]] = {function["counts"][0], function["inclusive"][0]};
    EXPECT_TRUE(function["calls"].is_null());
  }
  const double all = times["both"].second;
  ASSERT_GT(all, 0) << run.json["python"] << run.finished.err;
  EXPECT_GT(times["hot"].first, 0.6 * all) << run.json["python"];
  EXPECT_LT(times["cold"].first, 0.4 * all) << run.json["python"];
  EXPECT_NEAR(times["hot"].first, times["hot"].second, 0.01 * all) << "it calls no function";
}

TEST_F(ProfileSamples, of_all_processes) {
  const SampledRun one = sampled({"-a", "-e", "page-faults", "--", SAMPLED, "touch", "1500"});
  if (one.finished.code() == 125) GTEST_SKIP() << "processors may not be sampled here: " << one.finished.err;
  ASSERT_TRUE(one.any()) << one.finished.err;
  EXPECT_GE(one.of("touch"), 1500);
  EXPECT_EQ(one.sum("counts"), one.json["events"][0]["value"]);
}

TEST_F(ProfileSamples, are_compared_with_their_intervals) {
  const TemporaryFile before("before.json"), after("after.json");
  for (const auto& [file, rounds] : {std::pair{&before, "100"}, {&after, "300"}})
    ASSERT_EQ(
        tally({"profile", "-q", "-e", "cpu-clock", "--user", "-o", file->path(), "--", SAMPLED, "spin", rounds}).code(),
        0);
  const auto row_of = [](const nlohmann::json& comparison) {
    for (const nlohmann::json& row : comparison["functions"])
      if (row["function"] == "two_thirds") return row;
    return nlohmann::json();
  };
  const Finished changed = tally({"report", before.path(), after.path(), "--format", "json"});
  EXPECT_EQ(changed.code(), 0) << changed.err;
  const nlohmann::json row = row_of(nlohmann::json::parse(changed.out));
  ASSERT_FALSE(row.is_null()) << changed.out;
  EXPECT_EQ(row["verdict"], "worse");
  EXPECT_GT(row["interval"][0], 0);
  const Finished same = tally({"report", before.path(), before.path(), "--format", "json"});
  EXPECT_TRUE(row_of(nlohmann::json::parse(same.out)).is_null()) << same.out;
}

/// Every form accepts samples.
TEST_F(ProfileSamples, are_written_in_every_form) {
  for (const char* form : {"callgrind", "cachegrind", "folded", "speedscope", "pprof", "html"}) {
    SCOPED_TRACE(form);
    const TemporaryFile file("written");
    const Finished one = tally({"profile", "--calls", "-e", "page-faults", "--format", form, "-o", file.path(), "--",
                                SAMPLED, "touch", "100"});
    EXPECT_EQ(one.code(), 0) << one.err;
    EXPECT_GT(file.content().value_or("").size(), 100u);
    EXPECT_NE(one.err.find("every one"), std::string::npos) << one.err;
  }
  const Finished counts = tally({"profile", "-e", "cpu-clock", "--format", "autofdo", "--", SAMPLED, "touch", "1"});
  EXPECT_NE(counts.code(), 0);
}

/// The source of a function with its samples, and its instructions from its beginning.
TEST_F(ProfileSamples, are_next_to_the_source) {
  const Words spin{"--", SAMPLED, "spin", "100"};
  const Words base{"profile", "-q", "-e", "cpu-clock", "--annotate", "two_thirds"};
  const Finished source = tally(with(base, spin));
  if (source.err.find("no line information") != std::string::npos) GTEST_SKIP() << "built without libdw";
  EXPECT_NE(source.err.find("samples  line  source"), std::string::npos) << source.err;
  EXPECT_NE(source.err.find("x = x * 6364136223846793005u"), std::string::npos) << source.err;
  const Finished instructions = tally(with(with(base, {"--asm"}), spin));
  if (instructions.err.find("objdump") != std::string::npos) GTEST_SKIP() << "objdump is not installed";
  EXPECT_NE(instructions.err.find("samples  address  instruction"), std::string::npos) << instructions.err;
  EXPECT_NE(instructions.err.find("imul"), std::string::npos) << instructions.err;
}

TEST_F(ProfileSamples, refuse_what_they_cannot_measure) {
  const Finished switches = tally({"profile", "-e", "context-switches", "--", "true"});
  EXPECT_EQ(switches.code(), 125);
  EXPECT_NE(switches.err.find("it happens in the kernel"), std::string::npos) << switches.err;
  EXPECT_EQ(tally({"profile", "-e", "page-faults", "--every", "1ms", "--", "true"}).code(), 2);
  EXPECT_EQ(tally({"profile", "-e", "cpu-clock", "--every", "1", "--", "true"}).code(), 2);
  EXPECT_EQ(tally({"profile", "-e", "cpu-clock", "--every", "1ms", "--frequency", "10", "--", "true"}).code(), 2);
  EXPECT_EQ(tally({"profile", "--timeout", "100", "--", "true"}).code(), 2);
}

TEST_F(ProfileSamples, keep_the_programs_end) {
  EXPECT_EQ(tally({"profile", "-q", "-e", "page-faults", "--", "sh", "-c", "exit 7"}).code(), 7);
  const Finished killed = tally({"profile", "-q", "-e", "page-faults", "--", "sh", "-c", "kill -9 $$"});
  EXPECT_EQ(killed.code(), 137);
  EXPECT_NE(killed.err.find("was killed by SIGKILL"), std::string::npos) << killed.err;
}

}  // namespace
}  // namespace tally::test
