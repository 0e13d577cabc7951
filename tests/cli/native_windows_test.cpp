// `tally sample` by software events, and what `tally export` converts its compressed file to.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tally/core/base/text.hpp"
#include "tally/hardware/event/event.hpp"
#include "tests/cli/program.hpp"

namespace tally::test {
namespace {

const Words faulting{"/bin/sh", "-c", "ls / >/dev/null; ls / >/dev/null"};

Finished sample(const Words& options, const Words& command = faulting) {
  return tally(with(with(with({"sample", "-q"}, options), {"--"}), command));
}

bool refused(const Finished& finished) { return finished.err.find("the kernel refuses") != std::string::npos; }

// Rows of a CSV by the names of their columns.
std::vector<std::map<std::string, std::string>> rows_of(const std::string& csv) {
  std::vector<std::map<std::string, std::string>> rows;
  std::vector<std::string> names;
  for (const std::string& line : split(csv, '\n')) {
    const std::vector<std::string> cells = split(trimmed(line), ',');
    if (names.empty()) {
      names = cells;
    } else if (cells.size() == names.size()) {
      rows.emplace_back();
      for (std::size_t i = 0; i < cells.size(); ++i) rows.back()[names[i]] = cells[i];
    }
  }
  return rows;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(NativeWindows, page_faults_end_them_without_a_pmu_and_the_program_runs_natively) {
  const TemporaryFile file("rows.csv");
  const Finished finished =
      sample({"--every", "40", "--by", "page-faults", "-e", "page-faults,task-clock", "-o", file.path()});
  if (refused(finished)) GTEST_SKIP() << finished.err;
  EXPECT_EQ(finished.code(), 0) << finished.err;
  const auto rows = rows_of(file.content().value_or(""));
  ASSERT_GT(rows.size(), 3u);
  for (const auto& row : rows) {
    EXPECT_TRUE(row.at("trigger") == "page-faults" || row.at("trigger") == "end") << row.at("trigger");
    if (row.at("trigger") == "page-faults") EXPECT_EQ(row.at("page-faults"), "40");
    EXPECT_EQ(row.at("lost"), "0");
    EXPECT_EQ(row.at("trust"), "counted");
  }
}

TEST(NativeWindows, what_a_pmu_would_count_is_absent_and_the_rest_is_counted) {
  const Finished finished =
      sample({"--every", "1ms", "-e", "page-faults:u,peak-memory", "--format", "jsonl", "-o", "-"});
  if (refused(finished)) GTEST_SKIP() << finished.err;
  const auto lines = split(finished.out, '\n');
  const auto head = nlohmann::json::parse(lines[lines.size() - 2], nullptr, false);
  ASSERT_FALSE(head.is_discarded()) << finished.err;
  EXPECT_EQ(head["events"][0]["trust"], "counted");
  EXPECT_EQ(head["events"][1]["trust"], "absent");
  EXPECT_FALSE(head["events"][1]["reason"].get<std::string>().empty());
}

TEST(NativeWindows, the_compressed_file_has_the_same_rows) {
  const TemporaryFile file("rows.gz"), csv("rows.csv");
  const Finished finished = sample({"--every", "7", "--by", "page-faults", "-e", "page-faults,context-switches",
                                    "--format", "csv.gz", "-o", file.path()});
  if (refused(finished)) GTEST_SKIP() << finished.err;
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const Finished out = tally({"export", file.path()});
  EXPECT_EQ(out.code(), 0) << out.err;
  EXPECT_GT(rows_of(out.out).size(), 20u);
  const Finished again = tally({"export", "-o", csv.path(), file.path()});
  EXPECT_EQ(again.code(), 0) << again.err;
  EXPECT_EQ(sorted_lines(tally({"export", csv.path()}).out), sorted_lines(out.out));
  const auto trace =
      nlohmann::json::parse(tally({"export", "--format", "chrome-trace", file.path()}).out, nullptr, false);
  ASSERT_TRUE(trace.is_object());
  EXPECT_GT(trace["traceEvents"].size(), 20u);
}

TEST(NativeWindows, complete_rows_of_a_truncated_compressed_file_are_kept) {
  const TemporaryFile file("rows.csv.gz");
  const Finished finished = sample({"--every", "7", "--by", "page-faults", "-o", file.path()});
  if (refused(finished)) GTEST_SKIP() << finished.err;
  const std::string whole = file.content().value_or("");
  ASSERT_GT(whole.size(), 500u);
  const std::size_t rows = rows_of(tally({"export", file.path()}).out).size();
  const TemporaryFile cut("cut.csv.gz", whole.substr(0, whole.size() - 5));
  const Finished out = tally({"export", cut.path()});
  EXPECT_NE(out.err.find("the file ends within a row; the rows before it are shown"), std::string::npos) << out.err;
  EXPECT_EQ(rows_of(out.out).size(), rows - 1) << "the last row of a damaged file may be wrong";
}

TEST(NativeWindows, the_binary_file_of_version_0_9_is_refused) {
  const TemporaryFile file("rows.bin", std::string("TALLYWIN\1\0\0\0H", 13));
  for (const char* const command : {"export", "report"}) {
    const Finished out = tally({command, file.path()});
    EXPECT_EQ(out.code(), 2);
    EXPECT_NE(out.err.find("FILE.csv.gz"), std::string::npos) << out.err;
  }
}

TEST(NativeWindows, a_running_process_is_followed_until_it_ends) {
  int go[2];
  ASSERT_EQ(pipe(go), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(go[0], 0);
    close(go[1]);
    execl("/bin/sh", "sh", "-c", "read x; ls / >/dev/null; ls / >/dev/null", nullptr);
    _exit(127);
  }
  close(go[0]);
  const TemporaryFile file("rows.csv");
  Running running(tally_words(
      {"sample", "--every", "1", "--by", "page-faults", "--format", "csv", "-o", "-", "-p", std::to_string(child)}));
  // The header is written when the counters are open.
  const bool begun = running.wait_for_output("series,number");
  (void)!write(go[1], "x\n", 2);
  close(go[1]);
  const Finished finished = running.finish();
  waitpid(child, nullptr, 0);
  if (!begun) GTEST_SKIP() << finished.err;
  const auto rows = rows_of(finished.out);
  EXPECT_GT(rows.size(), 20u) << finished.err;
  int of_children = 0;
  for (const auto& row : rows) of_children += row.at("process") != std::to_string(child) ? 1 : 0;
  EXPECT_GT(of_children, 10);
}

TEST(NativeWindows, what_makes_no_sense_is_refused_with_a_reason) {
  EXPECT_NE(sample({"--every", "1us"}).err.find("the minimum is 10us"), std::string::npos);
  EXPECT_NE(sample({"--every", "1ms", "--by", "page-faults"}).err.find("is a time"), std::string::npos);
  EXPECT_NE(
      sample({"--every", "5", "--by", "page-faults", "--backend", "engine"}).err.find("the engine cannot end windows"),
      std::string::npos);
  EXPECT_NE(sample({"--every", "5", "--by", "page-faults", "--backend", "none"}).err.find("cannot record windows"),
            std::string::npos);
  EXPECT_NE(sample({"--every", "5", "--every", "6", "--by", "page-faults", "--by", "context-switches"})
                .err.find("only the engine supports several --every"),
            std::string::npos);
  EXPECT_NE(tally({"sample", "--every", "5", "--by", "page-faults", "-p", "x"}).err.find("is not a process ID"),
            std::string::npos);
}

TEST(NativeWindows, a_frequency_ends_them_n_times_a_second) {
  const TemporaryFile file("rows.csv");
  const Finished finished = sample({"--frequency", "500", "-e", "task-clock", "-o", file.path()},
                                   {"/bin/sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"});
  if (refused(finished)) GTEST_SKIP() << finished.err;
  ASSERT_EQ(finished.code(), 0) << finished.err;
  const auto rows = rows_of(file.content().value_or(""));
  ASSERT_GT(rows.size(), 5u);
  std::vector<long> lengths;
  for (const auto& row : rows)
    if (row.at("trigger") == "task-clock") lengths.push_back(std::stol(row.at("task-clock")));
  ASSERT_FALSE(lengths.empty());
  std::sort(lengths.begin(), lengths.end());
  // A record that came late leaves fewer counts for the next row.
  EXPECT_GT(lengths[lengths.size() / 2], 1'500'000) << "its period is two milliseconds";
  const auto head = nlohmann::json::parse(TemporaryFile::read(file.path() + ".meta.json").value_or(""), nullptr, false);
  EXPECT_EQ(head["every"][0]["frequency"], 500);
  EXPECT_EQ(head["every"][0]["count"], 0);
}

TEST(NativeWindows, a_frequency_is_refused_where_it_means_nothing) {
  const Finished twice = sample({"--frequency", "500", "--every", "1ms"});
  EXPECT_EQ(twice.code(), 2);
  const Finished too_often = sample({"--frequency", "1G"});
  EXPECT_NE(too_often.err.find("perf_event_max_sample_rate"), std::string::npos) << too_often.err;
#if TALLY_HAS_ENGINE
  const Finished engine = sample({"--backend", "engine", "--frequency", "500", "--by", "instructions"});
  EXPECT_EQ(engine.code(), 2);
  EXPECT_NE(engine.err.find("in a native run, --every 1ms"), std::string::npos) << engine.err;
#endif
}

// `tally sample` with options and all its notices on standard output.
Words sample_words(const Words& options) {
  return with({"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh"}, tally_words(with({"sample"}, options)));
}

// A copy of a program under a unique name.
class NamedProgram {
 public:
  explicit NamedProgram(const std::string& name) : path_(testing::TempDir() + name) {
    std::filesystem::copy_file("/bin/sh", path_, std::filesystem::copy_options::overwrite_existing);
  }
  ~NamedProgram() { std::filesystem::remove(path_); }
  NamedProgram(const NamedProgram&) = delete;
  NamedProgram& operator=(const NamedProgram&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A process that executes the program and waits for its input, so that it exists when counters are opened; other
/// running processes cause faults, too.
class WaitingChild {
 public:
  WaitingChild(const NamedProgram& program, const std::string& name) {
    int go[2];
    if (pipe(go) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      dup2(go[0], 0);
      close(go[1]);
      execl(program.path().c_str(), name.c_str(), "-c",
            "read x; (ls / >/dev/null); eval 'x=aaaaaaaa'; echo $x$x >/dev/null", nullptr);
      _exit(127);
    }
    close(go[0]);
    go_ = go[1];
  }
  WaitingChild(const WaitingChild&) = delete;
  WaitingChild& operator=(const WaitingChild&) = delete;
  ~WaitingChild() { end(false); }
  void end(bool goes_on = true) {
    if (pid_ == 0) return;
    if (!goes_on || write(go_, "\n", 1) != 1) kill(pid_, SIGKILL);
    close(go_);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
  int go_ = -1;
};

TEST(NativeWindows, a_program_that_is_not_running_yet_is_waited_for) {
  const std::string name = "tw" + std::to_string(getpid());
  const NamedProgram program(name);
  Running running(sample_words(
      {"-a", "--only", name, "--wait", "--every", "1", "--by", "page-faults", "--format", "csv", "-o", "-"}));
  const bool waits = running.wait_for_output("waiting for " + name);
  if (running.output().find("the kernel refuses") != std::string::npos) GTEST_SKIP() << running.output();
  ASSERT_TRUE(waits) << running.output();
  WaitingChild child(program, name);
  const bool found = running.wait_for_output("found process " + std::to_string(child.pid())) &&
                     running.wait_for_output("series,number");
  if (!found) GTEST_SKIP() << running.output();
  child.end();
  const Finished finished = running.finish();
  EXPECT_EQ(finished.code(), 0) << finished.out;
  EXPECT_NE(finished.out.find("the program has ended: tally stops waiting"), std::string::npos) << finished.out;
  std::string rows = finished.out.substr(finished.out.find("series,number"));
  int count = 0;
  for (const auto& row : rows_of(rows)) {
    ++count;
    EXPECT_EQ(row.at("program"), name) << "its children have other names";
  }
  EXPECT_GT(count, 3);
}

TEST(NativeWindows, programs_are_waited_for_one_after_the_other) {
  const std::string name = "ta" + std::to_string(getpid());
  const NamedProgram program(name);
  Running running(sample_words({"-a", "--only", name, "--wait", "--again", "--every", "1", "--by", "page-faults",
                                "--format", "csv", "-o", "-"}));
  const bool waits = running.wait_for_output("waiting for " + name);
  if (running.output().find("the kernel refuses") != std::string::npos) GTEST_SKIP() << running.output();
  ASSERT_TRUE(waits) << running.output();
  std::set<std::string> expected, found;
  for (int i = 0; i < 2; ++i) {
    WaitingChild child(program, name);
    if (!running.wait_for_output("found process " + std::to_string(child.pid()))) GTEST_SKIP() << running.output();
    expected.insert(std::to_string(child.pid()));
    child.end();
    ASSERT_TRUE(running.wait_for_output("the program has ended: waiting for the next one")) << running.output();
  }
  running.signal(SIGINT);
  const Finished finished = running.finish();
  EXPECT_EQ(finished.code(), -SIGINT);
  for (const auto& row : rows_of(finished.out.substr(finished.out.find("series,number"))))
    found.insert(row.at("process"));
  EXPECT_TRUE(std::includes(found.begin(), found.end(), expected.begin(), expected.end()))
      << "a child has its parent's name until it executes another program";
}

TEST(NativeWindows, waiting_accepts_a_name_and_ends_with_ctrl_c) {
  EXPECT_EQ(tally({"sample", "--again", "--only", "x", "--every", "1ms"}).code(), 2);
  EXPECT_EQ(tally({"sample", "-a", "--every", "1ms"}).code(), 2);
  EXPECT_EQ(tally({"sample", "--wait", "--every", "1ms"}).code(), 2);
  EXPECT_EQ(tally({"sample", "--wait", "--only", "x", "--every", "1ms", "--", "true"}).code(), 2);
  Running running(sample_words({"--only", "nobody-has-this", "--wait", "--every", "1ms", "-o", "/dev/null"}));
  ASSERT_TRUE(running.wait_for_output("waiting for nobody-has-this")) << running.output();
  running.signal(SIGINT);
  EXPECT_EQ(running.finish().code(), -SIGINT);
}

TEST(NativeWindows, windows_of_threads_are_merged_to_windows_of_their_process) {
  const TemporaryFile file("rows.csv");
  const Finished finished =
      sample({"--every", "80", "--by", "page-faults", "-e", "page-faults", "--merged", "-o", file.path()});
  if (refused(finished)) GTEST_SKIP() << finished.err;
  ASSERT_EQ(finished.code(), 0) << finished.err;
  std::map<std::string, std::set<std::string>> series;
  for (const auto& row : rows_of(file.content().value_or(""))) {
    series[row.at("process") + row.at("program")].insert(row.at("series"));
    if (row.at("trigger") == "page-faults") EXPECT_GE(std::stol(row.at("length")), 80);
  }
  EXPECT_GE(series.size(), 2u);
  for (const auto& [process, of] : series) EXPECT_EQ(of.size(), 1u);
}

}  // namespace
}  // namespace tally::test
