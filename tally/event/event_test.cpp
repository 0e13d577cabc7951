#include "tally/event/event.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tally::event {
namespace {

TEST(Table, every_name_is_its_own_and_parses_to_its_line) {
  std::set<std::string_view> names;
  for (const Definition& line : all()) {
    EXPECT_TRUE(names.insert(line.name).second) << line.name;
    const auto event = parse(line.name);
    ASSERT_TRUE(event) << line.name;
    EXPECT_EQ(event->id, line.id);
    EXPECT_EQ(&definition(line.id), &line);
    EXPECT_FALSE(line.what.empty());
    if (line.per) {
      EXPECT_NE(line.per->id, line.id);
    }
  }
}

TEST(Parse, hardware_events_are_user_mode_unless_the_kernel_is_asked) {
  EXPECT_EQ(name(*parse("instructions")), "instructions:u");
  EXPECT_EQ(name(*parse("instructions:u")), "instructions:u");
  EXPECT_EQ(name(*parse("instructions:k")), "instructions:k");
  EXPECT_EQ(parse("instructions:k")->mode, Mode::kernel);
  EXPECT_EQ(parse("loads")->asked, "loads");
  EXPECT_EQ(name(*parse("page-faults")), "page-faults");
}

TEST(Parse, unknown_names_offer_the_nearest) {
  const auto event = parse("instrctions:u");
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().code, Code::bad_usage);
  EXPECT_NE(event.error().message.find("'instrctions'"), std::string::npos);
  EXPECT_EQ(event.error().hint, "did you mean instructions?");
}

TEST(Parse, names_that_resemble_nothing_get_the_whole_list) {
  const auto event = parse("zzzzzzzzzz");
  ASSERT_FALSE(event);
  for (const Definition& line : all()) {
    EXPECT_NE(event.error().hint.find(line.name), std::string::npos) << line.name;
  }
}

TEST(Parse, suffixes_are_checked) {
  for (const char* text : {"loads:x", "loads:", "loads:uk", "page-faults:u", "duration_time:k", "", ":u"}) {
    const auto event = parse(text);
    ASSERT_FALSE(event) << text;
    EXPECT_EQ(event.error().code, Code::bad_usage) << text;
  }
}

TEST(ParseLists, keep_order_and_drop_repetitions) {
  const auto events = parse_lists({"loads, stores:u", "instructions,loads:u,instructions:k"});
  ASSERT_TRUE(events);
  std::vector<std::string> names;
  for (const Event& event : *events) names.push_back(name(event));
  EXPECT_EQ(names, (std::vector<std::string>{"loads:u", "stores:u", "instructions:u", "instructions:k"}));
}

TEST(ParseLists, a_missing_name_is_an_error) {
  for (const char* list : {"", "loads,", ",loads", "loads,,stores"}) EXPECT_FALSE(parse_lists({list})) << list;
}

TEST(DefaultSet, holds_the_architectural_events_and_the_kernels_figures) {
  std::set<std::string> names;
  for (const Event& event : default_set()) names.insert(event.asked);
  for (const char* wanted : {"instructions:u", "branches:u", "conditional-taken:u", "returns:u", "loads:u", "stores:u",
                             "page-faults", "user_time", "system_time", "duration_time", "peak-memory"}) {
    EXPECT_TRUE(names.count(wanted)) << wanted;
  }
}

}  // namespace
}  // namespace tally::event
