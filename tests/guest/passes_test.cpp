// More events than counters: refused, counted in passes, or estimated. The guest has seven counters.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "tests/guest/counted.hpp"
#include "tests/guest/machine.hpp"

namespace tally::hardware_test {
namespace {

using Words = test::Words;

constexpr const char* eleven =
    "instructions,cycles,instructions:k,cycles:k,instructions:uk,cycles:uk,r08,r11,r08:k,r11:k,page-faults";

std::int64_t instructions_of(std::uint64_t n) {
  return static_cast<std::int64_t>(known("countdown", n).counts.instructions);
}

#define TALLY_NEEDS_SEVEN_COUNTERS() \
  TALLY_NEEDS_PMU();                 \
  if (!is_guest()) GTEST_SKIP() << "only the guest's number of counters is known: seven"

TEST(Passes, more_events_than_counters_are_refused_with_what_fits_together) {
  TALLY_NEEDS_SEVEN_COUNTERS();
  const test::Finished refused = test::tally({"stat", "-e", eleven, "--", "true"});
  EXPECT_EQ(refused.code(), 125);
  EXPECT_TRUE(holds(refused.err, "2 passes would count them")) << refused.err;
  EXPECT_TRUE(holds(refused.err,
                    "pass 1: instructions:u, cycles:u, instructions:k, cycles:k, instructions:uk, "
                    "cycles:uk, r08:u, page-faults\n"))
      << refused.err;
  EXPECT_TRUE(holds(refused.err, "pass 2: r11:u, r08:k, r11:k\n")) << refused.err;
  EXPECT_TRUE(holds(refused.err, "`--passes` runs the program 2 times"));
  // The seven that fit, and an event that needs no counter.
  EXPECT_EQ(
      counted({"-e", "instructions,cycles,instructions:k,cycles:k,instructions:uk,cycles:uk,r08,page-faults"}, {"true"})
          .code,
      0);
}

TEST(Passes, a_group_is_never_split) {
  TALLY_NEEDS_SEVEN_COUNTERS();
  const test::Finished large =
      test::tally({"stat", "--passes", "-e",
                   "{instructions,cycles,instructions:k,cycles:k,instructions:uk,cycles:uk,r08,r11:k}", "--", "true"});
  EXPECT_EQ(large.code(), 125);
  EXPECT_TRUE(holds(large.err, "the group {instructions:u, ")) << large.err;
  const test::Finished two =
      test::tally({"stat", "--passes", "-e",
                   "{r08,r11,r08:k},cycles,cycles:k,{instructions,instructions:k,instructions:uk}", "--", "true"});
  EXPECT_TRUE(holds(two.err, "pass 1: r08:u, r11:u, r08:k, cycles:u, cycles:k\n")) << two.err;
  EXPECT_TRUE(holds(two.err, "pass 2: instructions:u, instructions:k, instructions:uk\n")) << two.err;
}

TEST(Passes, all_events_are_counted_exactly) {
  TALLY_NEEDS_SEVEN_COUNTERS();
  const Counted result = counted({"--passes", "-e", eleven}, {known("countdown", 1000000).path});
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(holds(result.messages, "running the program 2 times: 2 passes")) << result.messages;
  for (const char* event : {"instructions:u", "cycles:u", "r08:u", "r11:u"}) {
    EXPECT_EQ(result.value(event), instructions_of(1000000)) << event;
    EXPECT_EQ(result.rows.at(event).trust, "counted") << event;
  }
  EXPECT_GT(result.value("r08:k"), 0);
}

TEST(Passes, a_series_uses_them_automatically) {
  TALLY_NEEDS_SEVEN_COUNTERS();
  const Counted result = counted({"-r", "2", "-e", eleven}, {known("countdown", 1000).path});
  EXPECT_TRUE(holds(result.messages, "running the program 4 times: 2 passes in each of 2 runs")) << result.messages;
  EXPECT_EQ(result.value("r11:u"), instructions_of(1000));
}

TEST(Passes, a_file_is_read_by_each_and_a_pipe_is_refused) {
  TALLY_NEEDS_SEVEN_COUNTERS();
  const test::TemporaryFile input("input");
  std::ofstream(input.path()) << "one\ntwo\n";
  const std::string stat = std::string(TALLY_COMMAND) + " stat --passes -e " + eleven + " -- cat";
  const test::Finished file = test::Running({"/bin/sh", "-c", "read x; " + stat + " <" + input.path()}).finish();
  EXPECT_EQ(file.out, "one\ntwo\none\ntwo\n") << file.err;
  const test::Finished pipe = test::Running({"/bin/sh", "-c", "echo one | " + stat}).finish();
  EXPECT_EQ(pipe.code(), 2);
  EXPECT_EQ(pipe.out, "");
  EXPECT_TRUE(holds(pipe.err, "standard input is a pipe")) << pipe.err;
  EXPECT_EQ(test::tally({"stat", "--passes", "-a", "-e", eleven, "--", "true"}).code(), 2);
  EXPECT_EQ(test::tally({"stat", "--passes", "-I", "50", "-e", eleven, "--", "true"}).code(), 2);
}

TEST(Passes, a_program_that_fails_ends_them) {
  TALLY_NEEDS_SEVEN_COUNTERS();
  const Counted result = counted({"--passes", "-e", eleven}, {"sh", "-c", "exit 3"});
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.rows.at("instructions:u").trust, "counted");
  EXPECT_EQ(result.rows.at("r11:u").reason, "its pass was not executed");
}

// Sets the multiplexing interval of all PMUs in milliseconds, for its lifetime.
class Rotation {
 public:
  explicit Rotation(int milliseconds) {
    for (const auto& entry : std::filesystem::directory_iterator("/sys/bus/event_source/devices")) {
      const std::filesystem::path file = entry.path() / "perf_event_mux_interval_ms";
      if (!std::filesystem::exists(file)) continue;
      std::ifstream(file) >> before_[file];
      std::ofstream(file) << milliseconds;
    }
  }
  Rotation(const Rotation&) = delete;
  Rotation& operator=(const Rotation&) = delete;
  ~Rotation() {
    for (const auto& [file, milliseconds] : before_) std::ofstream(file) << milliseconds;
  }

 private:
  std::map<std::filesystem::path, int> before_;
};

TEST(Multiplexing, estimates_are_inside_their_bound) {
  TALLY_NEEDS_SEVEN_COUNTERS();
  const Rotation rotation(1);
  constexpr std::uint64_t turns = 210000000;  // 420 ms of the guest's time: enough slices
  constexpr int runs = 20;
  int inside = 0;
  for (int run = 0; run < runs; ++run) {
    const Counted result = counted({"--multiplex", "-e", eleven}, {known("countdown", turns).path});
    bool all_inside = true;
    for (const char* event : {"instructions:u", "cycles:u", "r08:u", "r11:u"}) {
      const Row& row = result.rows.at(event);
      ASSERT_EQ(row.trust, "scaled") << event;
      ASSERT_TRUE(row.error_percent) << event << ": " << row.reason;
      EXPECT_EQ(row.reason, "") << "more than 400 slices";
      EXPECT_LT(*row.error_percent, 2);
      const auto truth = static_cast<double>(instructions_of(turns));
      const double off = 100 * std::abs(static_cast<double>(*row.value) - truth) / truth;
      RecordProperty(std::string(event) + "." + std::to_string(run),
                     std::to_string(off) + " of " + std::to_string(*row.error_percent));
      all_inside = all_inside && off <= *row.error_percent;
    }
    inside += all_inside ? 1 : 0;
  }
  EXPECT_GE(inside, runs * 9 / 10);
}

TEST(Multiplexing, programs_shorter_than_the_turns_have_no_bound) {
  TALLY_NEEDS_SEVEN_COUNTERS();
  const Rotation rotation(5);  // two to three programs
  const std::string loop = known("countdown", 1000000).path;
  const Counted result = counted({"--multiplex", "-e", eleven},
                                 {"sh", "-c", "i=0; while [ $i -lt 40 ]; do " + loop + "; i=$((i+1)); done"});
  int scaled = 0;
  for (const auto& [name, row] : result.rows) {
    if (row.trust != "scaled") continue;
    ++scaled;
    EXPECT_FALSE(row.error_percent) << name;
    EXPECT_TRUE(holds(row.reason, "rough: the turns were uneven")) << row.reason;
  }
  EXPECT_GT(scaled, 0);
}

}  // namespace
}  // namespace tally::hardware_test
