#include "tally/measure/passes.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace tally::measure {
namespace {

constexpr int exited(int code) { return code << 8; }

// Counts each event as the length of its name, and reads standard input to its end.
class Executions final : public backend::Backend {
 public:
  std::string_view name() const override { return "executions"; }
  Result<backend::Outcome> run(const backend::Request& request) override {
    char one = 0;
    read_bytes += ::read(STDIN_FILENO, &one, 1) > 0 ? 1 : 0;
    backend::Outcome outcome;
    outcome.wait_status = ++runs == fails_in ? exited(3) : 0;
    for (const event::Event& event : request.events) {
      outcome.counts.push_back(
          backend::event_count(event, exact(static_cast<std::int64_t>(event::name(event).size()), "executions")));
    }
    return outcome;
  }
  backend::Outlook outlook(const event::Event&) const override { return {Trust::exact, "", "executions"}; }

  int runs = 0;
  int fails_in = 0;
  int read_bytes = 0;
};

class Passes : public testing::Test {
 protected:
  Passes() {
    request_.command = {"program"};
    request_.events = *event::parse_lists({"loads,instructions,stores,branches"});
  }
  ~Passes() override {
    if (before_ < 0) return;
    dup2(before_, STDIN_FILENO);
    close(before_);
  }

  Result<backend::Outcome> run(const std::vector<event::Pass>& passes, const linux::Input& input = {}) {
    auto signals = linux::Signals::watch();
    request_.signals = &*signals;
    return run_passes(executions_, request_, passes, input);
  }

  // A file of one byte is standard input from here on.
  void read_from_a_file() {
    std::FILE* file = std::tmpfile();
    std::fputc('x', file);
    std::rewind(file);
    before_ = dup(STDIN_FILENO);
    dup2(fileno(file), STDIN_FILENO);
    std::fclose(file);
  }

  Executions executions_;
  backend::Request request_;
  int before_ = -1;
};

TEST_F(Passes, each_counts_its_events_and_all_come_back_in_their_places) {
  const auto outcome = run({{1, 3}, {0}, {2}});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(executions_.runs, 3);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(outcome->counts[i].name, event::name(request_.events[i]));
    EXPECT_EQ(outcome->counts[i].count.value, std::ssize(outcome->counts[i].name)) << i;
  }
  EXPECT_TRUE(outcome->notices.empty());
}

TEST_F(Passes, one_that_fails_ends_them_and_the_rest_is_absent) {
  executions_.fails_in = 2;
  const auto outcome = run({{1, 3}, {0}, {2}});
  ASSERT_TRUE(outcome);
  EXPECT_EQ(executions_.runs, 2);
  EXPECT_TRUE(outcome->counts[0].count.value);
  EXPECT_FALSE(outcome->counts[2].count.value);
  EXPECT_EQ(outcome->wait_status, exited(3));
  EXPECT_EQ(outcome->notices, std::vector<std::string>{"2 of 3 passes were executed"});
}

TEST_F(Passes, each_reads_a_file_from_where_it_stood) {
  read_from_a_file();
  ASSERT_TRUE(run({{0}, {1}, {2}, {3}}, linux::Input::look()));
  EXPECT_EQ(executions_.read_bytes, 4);
}

}  // namespace
}  // namespace tally::measure
