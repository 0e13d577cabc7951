// `tally watch` next to `perf stat -a`, whose interval the test begins and ends.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tally/core/base/text.hpp"
#include "tally/linux/process/program_file.hpp"
#include "tests/cli/program.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

using Json = nlohmann::json;

// `perf stat -a`, which counts between start() and stop().
class SystemWidePerf {
 public:
  explicit SystemWidePerf(const std::string& perf) : folder_("perf.csv") {
    for (const char* name : {"control", "answers"}) mkfifo(path(name).c_str(), 0600);
    running_.emplace(test::Words{perf, "stat", "-a", "-x", ";", "-D", "-1", "-e", "instructions,cycles", "-o",
                                 folder_.path(), "--control", "fifo:" + path("control") + "," + path("answers"), "--",
                                 "sleep", "1000"});
    control_ = open(path("control").c_str(), O_WRONLY);  // perf has opened its end now
    answers_ = open(path("answers").c_str(), O_RDONLY);
  }
  SystemWidePerf(const SystemWidePerf&) = delete;
  SystemWidePerf& operator=(const SystemWidePerf&) = delete;
  ~SystemWidePerf() {
    close(control_);
    close(answers_);
  }

  void start() { send("enable\n"); }
  void stop() { send("disable\n"); }

  // Its counts.
  std::map<std::string, double> finish() {
    running_->signal_group(SIGINT);
    const test::Finished finished = running_->finish();
    std::map<std::string, double> counts;
    std::istringstream lines(folder_.content().value_or(""));
    for (std::string line; std::getline(lines, line);) {
      const auto fields = split(line, ';');
      if (fields.size() > 2 && !fields[0].empty()) counts[fields[2]] = std::atof(fields[0].c_str());
    }
    EXPECT_EQ(counts.size(), 2u) << finished.err << folder_.content().value_or("");
    return counts;
  }

 private:
  std::string path(const std::string& name) const { return folder_.folder() + "/" + name; }

  void send(const std::string& word) const {
    char answer[16];
    EXPECT_EQ(write(control_, word.data(), word.size()), static_cast<ssize_t>(word.size()));
    EXPECT_GT(read(answers_, answer, sizeof answer), 0) << word;
  }

  test::TemporaryFile folder_;
  std::optional<test::Running> running_;
  int control_ = -1, answers_ = -1;
};

TEST(Watched, instructions_cycles_and_their_ratio_are_those_of_perf_stat) {
  TALLY_NEEDS_GUEST();
  if (std::thread::hardware_concurrency() != 1) GTEST_SKIP() << "on one processor a count is that processor's own";
  const auto perf = linux::find_program("perf", linux::search_path());
  if (!perf) GTEST_SKIP() << "there is no perf to compare with";
  // Busy for a part of the time.
  const test::Running load(
      {"/bin/sh", "-c", "while :; do " + known("countdown", 1000000).path + "; sleep 0.005; done"});
  SystemWidePerf theirs(*perf);
  test::Running watch(test::tally_words({"watch", "--batch", "--format", "json", "-n", "1", "-I", "1000"}));
  // Its header follows its first reading at once, and the table the second reading.
  ASSERT_TRUE(watch.wait_for_output("\"header\""));
  theirs.start();
  ASSERT_TRUE(watch.wait_for_output("\"reading\""));
  theirs.stop();
  const test::Finished finished = watch.finish();
  ASSERT_EQ(finished.code(), 0) << finished.err;
  std::map<std::string, double> ours;
  for (const std::string& line : split(trimmed(finished.out), '\n')) {
    const Json json = Json::parse(line);
    if (json["line"] != "reading") continue;
    for (const Json& row : json["rows"]) {
      const Json& values = row["values"];
      ASSERT_TRUE(values["IPC"].is_number()) << row;
      EXPECT_NEAR(values["IPC"].get<double>(), values["INST"].get<double>() / values["CYC"].get<double>(), 1e-9) << row;
      if (row["kind"] != "core") continue;
      ours["instructions"] += values["INST"].get<double>();
      ours["cycles"] += values["CYC"].get<double>();
    }
  }
  const auto counts = theirs.finish();
  for (const char* event : {"instructions", "cycles"}) {
    const double their_count = counts.at(event);
    RecordProperty(event, std::to_string(ours[event] / their_count));
    EXPECT_NEAR(ours[event], their_count, 0.01 * their_count) << event;
  }
  const double ipc = ours["instructions"] / ours["cycles"];
  EXPECT_NEAR(ipc, counts.at("instructions") / counts.at("cycles"), 0.01 * ipc);
  EXPECT_GT(ipc, 0.1);
  EXPECT_LT(ipc, 0.95) << "it is idle for some of the time";
}

// A cycle is an instruction here, and the group holds only the process.
TEST(Watched, processes_and_groups_have_their_own_instructions) {
  TALLY_NEEDS_GUEST();
  const std::string group = "/sys/fs/cgroup/countdown";
  std::ofstream("/sys/fs/cgroup/cgroup.subtree_control") << "+pids" << std::flush;  // else perf finds no groups
  if (mkdir(group.c_str(), 0755) != 0 && errno != EEXIST) GTEST_SKIP() << "no group can be made in /sys/fs/cgroup";
  const test::Running load(
      {"/bin/sh", "-c",
       "echo $$ >" + group + "/cgroup.procs; while :; do " + known("countdown", 210000000).path + "; done"});
  std::map<std::string, Json> rows;
  while (rows["process"].is_null()) {  // until it runs
    const test::Finished finished = test::tally({"watch", "--batch", "--format", "json", "-n", "1", "-I", "200",
                                                 "--per", "core,process,group", "--filter", "countdown"});
    ASSERT_EQ(finished.code(), 0) << finished.err;
    const auto lines = split(trimmed(finished.out), '\n');
    const Json table = Json::parse(lines.back());
    for (const Json& row : table["rows"]) rows[row["kind"]] = row;
  }
  for (const char* kind : {"process", "group"}) {
    const Json& values = rows[kind]["values"];
    ASSERT_TRUE(values["INST"].is_number()) << rows[kind];
    EXPECT_NEAR(values["IPC"].get<double>(), 1, 0.001) << rows[kind];
    EXPECT_GT(values["INST"].get<double>(), 100e6) << "of 200 ms most";
    EXPECT_LT(values["INST"].get<double>(), rows["core"]["values"]["INST"].get<double>()) << rows["core"];
  }
  // They are not read at the same moment: the instructions of tally itself are between.
  const double of_process = rows["process"]["values"]["INST"].get<double>();
  EXPECT_NEAR(rows["group"]["values"]["INST"].get<double>(), of_process, 0.1 * of_process);
}

}  // namespace
}  // namespace tally::hardware_test
