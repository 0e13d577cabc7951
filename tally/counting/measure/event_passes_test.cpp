#include "tally/counting/measure/event_passes.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "tally/linux/process/region_handoff.hpp"

namespace tally::measure {
namespace {

constexpr int status_of_exit(int code) { return code << 8; }

// Counts each event as the length of its name, and reads a byte of standard input.
class Executions final : public backend::Backend {
 public:
  backend::Traits traits() const override { return {.name = "executions"}; }
  std::optional<Error> refuses(const backend::Order& /*order*/) const override { return std::nullopt; }
  Result<backend::Outcome> run(const backend::Order& order) override {
    char one = 0;
    read_bytes += ::read(STDIN_FILENO, &one, 1) > 0 ? 1 : 0;
    backend::Outcome outcome;
    outcome.wait_status = ++runs == fails_in ? status_of_exit(3) : 0;
    for (const event::Event& event : order.events) {
      const auto value = static_cast<std::int64_t>(event::name(event).size());
      const bool has_room = std::ssize(outcome.counts) < room;
      outcome.counts.push_back(backend::event_count(
          event, has_room ? exact(value, CountSource::pmu("executions"))
                          : from_reading({value, Nanoseconds(100), Nanoseconds(40)}, CountSource::pmu("executions"))));
    }
    if (room < all) hand_over_regions();
    return outcome;
  }
  backend::Outlook outlook(const event::Event&) const override {
    return {Trust::exact, "", CountSource::pmu("executions")};
  }

  static constexpr std::ptrdiff_t all = 100;
  std::ptrdiff_t room = all;  // events that have counters; regions have the others
  int runs = 0;
  int fails_in = 0;
  int read_bytes = 0;

 private:
  // Passes regions to the command as a program does at its end.
  static void hand_over_regions() {
    const pid_t program = fork();
    if (program == 0) {
      const auto folder = linux::gathered_in();
      const bool good = folder && linux::hand_over(*folder, R"({"schema": "tally-regions/1", "pid": 1, "command": [],
        "reason": null, "regions": [{"region": "r", "entries": 1, "recursive": 0, "dropped": 0, "open": 0,
        "events": [], "threads": []}]})");
      _exit(good ? 0 : 1);
    }
    int status = -1;
    waitpid(program, &status, 0);
    EXPECT_EQ(status, 0);
  }
};

class InPasses : public testing::Test {
 protected:
  InPasses() {
    order_.target.command = {"program"};
    order_.events = *event::parse_lists({"loads,instructions,stores,branches"});
  }
  ~InPasses() override {
    if (before_ < 0) return;
    dup2(before_, STDIN_FILENO);
    close(before_);
  }

  Result<backend::Outcome> run(const std::vector<event::Pass>& passes, const linux::Input& input = {}) {
    auto signals = linux::Signals::watch();
    order_.conditions.signals = &*signals;
    passes_.passes = passes;
    return run_passes(executions_, order_, passes_, input);
  }

  // Makes a file of one byte the standard input.
  void read_from_a_file() {
    std::FILE* file = std::tmpfile();
    std::fputc('x', file);
    std::rewind(file);
    before_ = dup(STDIN_FILENO);
    dup2(fileno(file), STDIN_FILENO);
    std::fclose(file);
  }

  Executions executions_;
  backend::Order order_;
  measure::Passes passes_;
  int before_ = -1;
};

TEST_F(InPasses, each_counts_its_events_and_the_order_is_kept) {
  const auto outcome = run({{1, 3}, {0}, {2}});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(executions_.runs, 3);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(outcome->counts[i].name, event::event_name(order_.events[i]));
    EXPECT_EQ(outcome->counts[i].count.value, std::ssize(outcome->counts[i].name.text())) << i;
  }
  EXPECT_TRUE(outcome->notices.empty());
}

TEST_F(InPasses, events_that_lost_counters_to_regions_are_counted_in_further_ones) {
  executions_.room = 2;
  passes_.make_room = true;
  const auto outcome = run({});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(executions_.runs, 2);
  EXPECT_EQ(outcome->regions.size(), 1u) << "those of the first";
  for (const auto& one : outcome->counts) EXPECT_EQ(one.count.trust, Trust::exact) << one.name.text();
  EXPECT_EQ(passes_.passes, (std::vector<event::Pass>{{0, 1}, {2, 3}})) << "as they were counted together";
  ASSERT_EQ(outcome->notices.size(), 1u);
  EXPECT_NE(outcome->notices[0].find("executed 2 times instead of 1"), std::string::npos) << outcome->notices[0];
  // A later run uses these passes.
  ASSERT_TRUE(run(passes_.passes));
  EXPECT_EQ(executions_.runs, 4);
}

TEST_F(InPasses, without_room_for_a_single_event_it_is_absent) {
  executions_.room = 0;
  passes_.make_room = true;
  const auto outcome = run({});
  ASSERT_TRUE(outcome);
  for (const auto& one : outcome->counts) {
    EXPECT_EQ(one.count.trust, Trust::absent);
    EXPECT_NE(one.count.reason.find("the program's regions used its counter"), std::string::npos);
  }
  EXPECT_EQ(passes_.passes.size(), 4u);
  EXPECT_EQ(executions_.runs, 7) << "four, two and two, one each";
}

TEST_F(InPasses, without_make_room_it_is_executed_once) {
  executions_.room = 2;
  const auto outcome = run({});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(executions_.runs, 1);
  EXPECT_EQ(outcome->counts[3].count.trust, Trust::absent);
  EXPECT_TRUE(passes_.passes.empty());
}

TEST_F(InPasses, a_failure_ends_them_and_the_rest_is_absent) {
  executions_.fails_in = 2;
  const auto outcome = run({{1, 3}, {0}, {2}});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(executions_.runs, 2);
  EXPECT_TRUE(outcome->counts[0].count.value);
  EXPECT_FALSE(outcome->counts[2].count.value);
  EXPECT_EQ(outcome->wait_status, status_of_exit(3));
  EXPECT_EQ(outcome->notices, std::vector<std::string>{"2 of 3 passes were executed"});
}

TEST_F(InPasses, each_reads_a_file_from_its_position) {
  read_from_a_file();
  ASSERT_TRUE(run({{0}, {1}, {2}, {3}}, linux::Input::read_position()));
  EXPECT_EQ(executions_.read_bytes, 4);
}

}  // namespace
}  // namespace tally::measure
