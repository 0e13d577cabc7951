// `tally doctor`, for the answers that a test can cause. The others are in tests/machines.
#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tally/linux/perf/perf_event.hpp"
#include "tests/guest/counted.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

using Words = test::Words;
using Json = nlohmann::json;

// The output of the doctor, run after these words.
class Answer {
 public:
  explicit Answer(Words words = {}) {
    words.insert(words.end(), {TALLY_COMMAND, "doctor", "--json"});
    take(test::Running(words).finish());
  }
  static Answer as_ordinary_user() {
    return Answer(test::Running(as_user({TALLY_COMMAND, "doctor", "--json"})).finish());
  }

  bool counts() const { return code_ == 0 && json["hardware"] == true; }
  std::string cause() const { return json.value("cause", "none"); }

  // Whether it is anywhere in the answer: verdict, evidence, what to do, facts.
  bool says(const std::string& text) const { return json.dump().find(text) != std::string::npos; }

  Json json;

 private:
  explicit Answer(const test::Finished& finished) { take(finished); }
  void take(const test::Finished& finished) {
    code_ = finished.code();
    json = Json::parse(finished.out, nullptr, false);
    if (json.is_discarded()) {
      ADD_FAILURE() << finished.out << finished.err;
      json = Json::object();
    }
  }

  int code_ = 0;
};

std::string text_of(const Answer& answer) { return answer.json.dump(1); }

TEST(Doctor, root_counts_at_every_level) {
  TALLY_NEEDS_GUEST();
  for (const int level : {3, 2, 1, -1}) {
    const Setting setting = paranoid(level);
    const Answer answer;
    EXPECT_TRUE(answer.counts()) << text_of(answer);
    EXPECT_EQ(answer.cause(), "counts");
    EXPECT_FALSE(answer.says("Not allowed to you")) << level;
    EXPECT_EQ(answer.json["kernel"]["perf_event_paranoid"], level);
  }
}

TEST(Doctor, an_ordinary_user_sees_which_level_forbids_what) {
  TALLY_NEEDS_GUEST();
  {
    const Setting level = paranoid(3);
    const Answer answer = Answer::as_ordinary_user();
    EXPECT_FALSE(answer.counts());
    EXPECT_EQ(answer.cause(), "paranoid") << text_of(answer);
    EXPECT_TRUE(answer.says("sysctl kernel.perf_event_paranoid=2")) << text_of(answer);
    EXPECT_EQ(answer.json["rights"]["hardware_event"], EACCES);
  }
  {
    const Setting level = paranoid(2);
    const Answer answer = Answer::as_ordinary_user();
    EXPECT_TRUE(answer.counts());
    EXPECT_TRUE(answer.says("counting what happens in the kernel or a whole processor (perf_event_paranoid is 2)"))
        << text_of(answer);
  }
  {
    const Setting level = paranoid(1);
    const Answer answer = Answer::as_ordinary_user();
    EXPECT_TRUE(answer.counts());
    EXPECT_TRUE(answer.says("Not allowed to you: counting a whole processor")) << text_of(answer);
    EXPECT_TRUE(answer.says("sysctl kernel.perf_event_paranoid=0"));
  }
  const Setting level = paranoid(-1);
  const Answer answer = Answer::as_ordinary_user();
  EXPECT_TRUE(answer.counts());
  EXPECT_FALSE(answer.says("Not allowed to you")) << text_of(answer);
}

// Here and everywhere: the process sets the filter itself.
TEST(Doctor, a_filter_of_system_calls_is_recognised_by_its_answer) {
  for (const auto& [number, name] : {std::pair{EPERM, "EPERM"}, std::pair{ENOSYS, "ENOSYS"}}) {
    const Answer answer({FILTERED, std::to_string(number)});
    EXPECT_FALSE(answer.counts());
    if (why_no_pmu().empty()) {
      EXPECT_EQ(answer.cause(), "filter") << text_of(answer);
      EXPECT_TRUE(answer.says(std::string("invalid flags returns ") + name)) << text_of(answer);
      EXPECT_TRUE(answer.says("--cap-add PERFMON"));
    } else {
      EXPECT_TRUE(answer.says("does not reach the kernel's perf: " + std::string(name))) << text_of(answer);
    }
    EXPECT_EQ(answer.json["rights"]["seccomp"], 2);
    EXPECT_EQ(answer.json["rights"]["perf_event_open"], false);
  }
}

TEST(Doctor, few_files_are_named_with_the_limit_that_allows_more) {
  TALLY_NEEDS_PMU();
  const Answer answer({"/bin/sh", "-c", "ulimit -S -n 18; exec \"$@\"", "sh"});
  EXPECT_TRUE(answer.counts()) << text_of(answer);
  EXPECT_EQ(answer.json["rights"]["open_files"], 18);
  EXPECT_TRUE(answer.says("and 18 may be open at a time")) << text_of(answer);
  EXPECT_TRUE(answer.says("ulimit -n ")) << text_of(answer);
}

TEST(Doctor, too_many_files_are_named_where_counting_stops_at_them) {
  TALLY_NEEDS_PMU();
  const Words command{"/bin/sh",
                      "-c",
                      "ulimit -S -n 10; exec \"$@\"",
                      "sh",
                      TALLY_COMMAND,
                      "stat",
                      "-x",
                      ";",
                      "-e",
                      "task-clock,cpu-clock,page-faults,minor-faults,major-faults,context-switches,cycles,instructions",
                      "true"};
  const test::Finished finished = test::Running(command).finish();
  EXPECT_EQ(finished.code(), 0);
  EXPECT_NE(finished.err.find("more than 10 open files"), std::string::npos) << finished.err;
}

// Counters that are pinned to a processor: no other process can use them.
class PinnedCounters {
 public:
  PinnedCounters() {
    constexpr int more_than_there_are = 32;
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    attributes.pinned = 1;
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    for (int i = 0; i < more_than_there_are; ++i) {
      held_.push_back({linux::Descriptor(static_cast<int>(
                           syscall(SYS_perf_event_open, &attributes, -1, 0, -1, PERF_FLAG_FD_CLOEXEC))),
                       0});
    }
  }
  const std::vector<linux::PerfCounter>& all() const { return held_; }

 private:
  std::vector<linux::PerfCounter> held_;
};

TEST(Doctor, pinned_counters_of_others_leave_no_counter) {
  TALLY_NEEDS_GUEST();
  if (sysconf(_SC_NPROCESSORS_ONLN) > 1) GTEST_SKIP() << "other processors have counters of their own";
  {
    const PinnedCounters others;
    const Answer answer;
    EXPECT_FALSE(answer.counts());
    EXPECT_EQ(answer.cause(), "busy") << text_of(answer);
    EXPECT_TRUE(answer.says("ran 0 ns"));
    const test::Finished forced = test::tally({"stat", "--backend", "perf", "-e", "instructions", "--", "true"});
    EXPECT_EQ(forced.code(), 125);
    EXPECT_NE(forced.err.find("its counters never run: other programs use all of them"), std::string::npos)
        << forced.err;
    const test::Finished by_itself = test::tally({"stat", "-e", "instructions,page-faults", "--", "true"});
    EXPECT_NE(by_itself.err.find("this machine's PMU is not used: armv8_pmuv3"), std::string::npos) << by_itself.err;
    // An event that got no counter is in error: its read returns end of file, and no 0.
    ASSERT_TRUE(others.all().back());
    EXPECT_FALSE(others.all().back().read());
    EXPECT_TRUE(others.all().front().read());
  }
  EXPECT_TRUE(Answer().counts()) << "they are free again";
}

TEST(Doctor, reading_without_a_system_call_is_allowed_by_the_setting_that_it_names) {
  TALLY_NEEDS_GUEST();
  const Answer before;
  EXPECT_EQ(before.json["rights"]["user_mode_reads"], false);
  EXPECT_TRUE(before.says("sysctl kernel.perf_user_access=1")) << text_of(before);
  const Setting access("/proc/sys/kernel/perf_user_access", 1);
  const Answer after;
  EXPECT_EQ(after.json["rights"]["user_mode_reads"], true) << text_of(after);
  EXPECT_FALSE(after.says("sysctl kernel.perf_user_access=1"));
}

TEST(Doctor, a_limit_on_locked_memory_is_named) {
  TALLY_NEEDS_GUEST();
  const Setting level = paranoid(2);
  const Setting room("/proc/sys/kernel/perf_event_mlock_kb", 0);
  const test::Finished finished =
      test::Running(as_user({"/bin/sh", "-c", "ulimit -l 0; exec \"$@\"", "sh", TALLY_COMMAND, "doctor"})).finish();
  EXPECT_EQ(finished.code(), 0) << "it still counts";
  EXPECT_NE(finished.out.find("EPERM"), std::string::npos) << finished.out;
  EXPECT_NE(finished.out.find("sysctl kernel.perf_event_mlock_kb=516"), std::string::npos) << finished.out;
}

// ./dev guest --no-pmu, and every other machine without a PMU.
TEST(Doctor, without_a_pmu_it_says_so_and_lists_what_still_works) {
  if (why_no_pmu().empty()) GTEST_SKIP() << "there is a PMU; ./dev guest --no-pmu has none";
  const Answer answer;
  EXPECT_FALSE(answer.counts());
  if (!is_guest()) return;
  EXPECT_EQ(answer.cause(), "no-vpmu") << text_of(answer);
  EXPECT_TRUE(answer.says("qemu,fw-cfg-mmio")) << text_of(answer);
  EXPECT_TRUE(answer.says("-cpu host,pmu=on"));
  const test::Finished finished = test::tally({"stat", "-e", "instructions,page-faults", "--", "true"});
  EXPECT_EQ(finished.code(), 0);
  EXPECT_NE(finished.err.find("exposes no PMU"), std::string::npos) << finished.err;
  EXPECT_NE(finished.err.find("counted by perf_event"), std::string::npos) << finished.err;
}

}  // namespace
}  // namespace tally::hardware_test
