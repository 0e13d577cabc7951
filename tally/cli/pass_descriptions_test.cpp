// Describing passes and metrics.
#include "tally/cli/pass_descriptions.hpp"

#include <gtest/gtest.h>

#include "tally/cli/metric_options.hpp"
#include "tally/hardware/event/list.hpp"

namespace tally::cli {
namespace {

using Lines = std::vector<std::string>;

std::vector<event::Event> events_of(const Lines& names) { return event::parse_lists(names).value(); }

TEST(Passes, are_numbered_from_1) {
  const auto events = events_of({"instructions,cycles,branches"});
  const event::Plan plan{{{0, 2}, {1}}, {}};
  EXPECT_EQ(lines_of(events, plan), (Lines{"pass 1: instructions:u, branches:u", "pass 2: cycles:u"}));
  EXPECT_EQ(names_of(events, {}), "");
}

TEST(Passes, are_offered_where_a_program_can_run_again) {
  const auto events = events_of({"instructions,cycles"});
  const event::Plan plan{{{0}, {1}}, {}};
  const Error with_command = passes_error(events, plan, true);
  EXPECT_NE(with_command.message.find("2 passes would count them\n  pass 1: "), std::string::npos);
  EXPECT_TRUE(with_command.hint.starts_with("`--passes` runs the program 2 times; `--multiplex`"));
  EXPECT_TRUE(passes_error(events, plan, false).hint.starts_with("`--multiplex`"));
}

TEST(Metrics, add_the_events_that_are_missing_in_their_mode) {
  const auto added = [](const char* metrics, const Lines& asked) {
    auto events = events_of(asked);
    EXPECT_TRUE(add_events_of(parse_metrics({metrics}).value(), events));
    Lines names;
    for (const event::Event& event : events) names.push_back(event::name(event));
    return names;
  };
  EXPECT_EQ(added("IPC", {"instructions"}), (Lines{"instructions:u", "cycles:u"}));
  EXPECT_EQ(added("IPC", {"cycles,instructions"}), (Lines{"cycles:u", "instructions:u"}));
  EXPECT_EQ(added("IPC:k", {"instructions"}), (Lines{"instructions:u", "instructions:k", "cycles:k"}));
}

TEST(Metrics, are_listed_one_in_a_line) {
  const std::string list = metric_list();
  EXPECT_EQ(static_cast<std::size_t>(std::count(list.begin(), list.end(), '\n')), metric_table().size());
  for (const MetricDefinition& line : metric_table())
    EXPECT_NE(list.find(std::string(line.name) + " "), std::string::npos) << line.name;
}

}  // namespace
}  // namespace tally::cli
