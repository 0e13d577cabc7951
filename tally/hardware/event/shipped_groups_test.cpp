#include "tally/hardware/event/shipped_groups.hpp"

#include <gtest/gtest.h>

#include "tally/core/count/metric.hpp"
#include "tally/hardware/event/list.hpp"

namespace tally::event {
namespace {

TEST(Groups, that_tally_has_are_valid) {
  for (const ShippedGroup& shipped : shipped_groups()) {
    const auto group = parse_group(shipped.text);
    ASSERT_TRUE(group) << shipped.name << ": " << group.error().message;
    EXPECT_FALSE(group->what.empty()) << shipped.name;
    EXPECT_TRUE(parse_lists(group->events)) << shipped.name;
    const auto metrics = parse_metrics(group->metrics);
    ASSERT_TRUE(metrics) << shipped.name << ": " << metrics.error().message;
    for (const std::string& list : group->optional) EXPECT_TRUE(split_list(list)) << shipped.name;
    for (const MetricChoice& metric : *metrics)
      if (group->optional.empty()) EXPECT_TRUE(parse_lists(metric.formula.names())) << metric.name;
  }
}

TEST(Groups, of_users_have_comments_and_several_lines) {
  const auto group =
      parse_group("# mine\n\n# a comment\nevent  instructions,branches\nevent loads\nmetric X=loads / branches\n");
  ASSERT_TRUE(group);
  EXPECT_EQ(*group, (EventGroup{"mine", {"instructions,branches", "loads"}, {"X=loads / branches"}}));
}

TEST(Groups, have_events_that_some_machines_lack) {
  const auto group = parse_group("# mine\noptional power/energy-pkg/\n");
  ASSERT_TRUE(group);
  EXPECT_EQ(group->optional, std::vector<std::string>{"power/energy-pkg/"});
}

TEST(Groups, errors_name_the_line) {
  EXPECT_EQ(parse_group("# mine\nevents loads\n").error().message, "line 2: 'events loads'");
  EXPECT_EQ(parse_group("# mine\n").error().message, "it names no events");
}

}  // namespace
}  // namespace tally::event
