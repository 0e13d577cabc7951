// The program's arguments, lists of IDs, and hints for perf's options.
#include "tally/tools/launch/launch.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tally/tools/command/command_page.hpp"

namespace tally::launch {
namespace {

using Words = std::vector<std::string>;

Result<Words> command_in(const Words& arguments, bool may_be_missing = false, const std::string& command = "stat") {
  Page page;
  bool wait_all = false;
  page.head("Counts.", "tally " + command + " [options] [--] PROGRAM");
  page.add_flag("--wait-all", wait_all, "wait");
  page.prefix_command();
  EXPECT_EQ(page.read(arguments), std::nullopt);
  return command_of(page, may_be_missing, "tally stat -- ls");
}

TEST(CommandOf, is_what_follows_the_options) {
  EXPECT_EQ(command_in({"--wait-all", "ls", "-l"}).value(), (Words{"ls", "-l"}));
  EXPECT_EQ(command_in({"--wait-all", "--", "ls", "-l"}).value(), (Words{"ls", "-l"}));
  EXPECT_EQ(command_in({"ls", "--", "-l"}).value(), (Words{"ls", "--", "-l"}));
  EXPECT_EQ(command_in({"--", "-l"}).value(), (Words{"-l"})) << "after -- every word is the program's";
  EXPECT_EQ(command_in({"-"}).value(), (Words{"-"}));
}

TEST(CommandOf, may_be_missing_only_with_an_attachment) {
  EXPECT_EQ(command_in({}, true).value(), Words{});
  for (const Words& words : {Words{}, Words{"--"}}) {
    const auto refused = command_in(words);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "missing PROGRAM");
    EXPECT_EQ(refused.error().hint, "for example: tally stat -- ls");
  }
}

TEST(CommandOf, does_not_start_with_an_unknown_option) {
  auto refused = command_in({"--wait-al", "ls"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "unknown option '--wait-al'");
  EXPECT_TRUE(refused.error().hint.starts_with("did you mean --wait-all?")) << refused.error().hint;
  refused = command_in({"-A", "ls"}, true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().hint, "`-a --per-core` reports each core");
}

TEST(CommandOf, has_hints_for_options_of_perf_by_command) {
  const auto hint = [](const std::string& command, const std::string& option) {
    const auto refused = command_in({option, "ls"}, false, command);
    return refused ? "" : refused.error().hint;
  };
  EXPECT_NE(hint("profile", "-g").find("`--calls`"), std::string::npos);
  EXPECT_NE(hint("profile", "-F99").find("`--frequency HZ`"), std::string::npos);
  EXPECT_NE(hint("profile", "--call-graph=dwarf").find("`--calls`"), std::string::npos);
  EXPECT_NE(hint("profile", "-n").find("`--top N`"), std::string::npos);
  EXPECT_NE(hint("stat", "-n").find("`-e duration_time`"), std::string::npos);
  EXPECT_NE(hint("stat", "-v").find("`tally event NAME`"), std::string::npos);
  EXPECT_NE(hint("sample", "-n").find("`tally sample --help`"), std::string::npos);
}

TEST(IdsOf, is_a_list_of_positive_numbers) {
  EXPECT_EQ(ids_of("1234", "process").value(), (std::vector<int>{1234}));
  EXPECT_EQ(ids_of("1, 2147483647", "process").value(), (std::vector<int>{1, 2147483647}));
  EXPECT_EQ(ids_of("", "process").value(), std::vector<int>{});
  for (const char* list : {"0", "-1", "2147483648", "1,,2", "1,", "x", "1 2", "0x10"})
    EXPECT_FALSE(ids_of(list, "process")) << list;
  const auto refused = ids_of("1,x\n", "thread");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().hint, "for example: -t 1234,1235");
  EXPECT_EQ(refused.error().message.find('\n'), std::string::npos);
}

TEST(IsQuiet, follows_the_option_and_the_environment) {
  const auto with = [](const char* word) {
    setenv("TALLY_QUIET", word, 1);
    const bool quiet = is_quiet(false);
    unsetenv("TALLY_QUIET");
    return quiet;
  };
  unsetenv("TALLY_QUIET");
  EXPECT_FALSE(is_quiet(false));
  EXPECT_TRUE(is_quiet(true));
  EXPECT_TRUE(with("1"));
  EXPECT_TRUE(with("yes"));
  EXPECT_FALSE(with("0"));
  EXPECT_FALSE(with(""));
}

TEST(FitsFormat, names_the_event_that_is_absent) {
  const std::vector<event::Event> events = {event::parse("instructions").value(), event::parse("cycles").value()};
  const auto outlook = [](const event::Event& event) {
    backend::Outlook one;
    one.trust = event.id == event::Id::cycles ? Trust::absent : Trust::exact;
    one.reason = "needs a PMU";
    return one;
  };
  const auto fits = +[](const std::vector<EventName>&) -> Result<void> { return {}; };
  EXPECT_TRUE(fits_format("json", nullptr, events, outlook)) << "a format without a condition takes everything";
  const auto refused = fits_format("hpctool", fits, events, outlook);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("cycles:u is absent (needs a PMU)"), std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(fits_format("hpctool", fits, {events.front()}, outlook));
}

}  // namespace
}  // namespace tally::launch
