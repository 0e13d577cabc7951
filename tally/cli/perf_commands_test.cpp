// Hints for words that are no commands: each names commands and options that exist.
#include "tally/cli/perf_commands.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tally/cli/commands.hpp"
#include "tally/core/base/text.hpp"

namespace tally::cli {
namespace {

bool is_command(std::string_view name) {
  return std::ranges::any_of(commands(), [&](const Command& command) { return command.name == name; });
}

std::set<std::string> options_of(std::string_view name) {
  std::set<std::string> names;
  for (const CommandDescription& command : describe_commands()) {
    if (command.name != name) continue;
    for (const OptionDescription& option : command.options) names.insert(option.names.begin(), option.names.end());
  }
  return names;
}

// The words of each `…` in the hint.
std::vector<std::vector<std::string>> shown_commands(std::string_view hint) {
  std::vector<std::vector<std::string>> shown;
  const std::vector<std::string> parts = split(std::string(hint), '`');
  for (std::size_t i = 1; i < parts.size(); i += 2) shown.push_back(split(parts[i], ' '));
  return shown;
}

TEST(CommandHint, is_for_words_that_are_no_commands) {
  for (const CommandHint& one : command_hints) EXPECT_FALSE(is_command(one.word)) << one.word;
  for (const std::string_view word : only_of_perf) EXPECT_FALSE(is_command(word)) << word;
}

TEST(CommandHint, shows_commands_that_exist) {
  for (const CommandHint& one : command_hints) {
    bool shows_tally = false;
    for (const std::vector<std::string>& words : shown_commands(one.hint)) {
      if (words.front() != "tally" || words[1] == "--version") {
        shows_tally = shows_tally || words.back() == "--version";
        continue;
      }
      shows_tally = true;
      EXPECT_TRUE(is_command(words[1])) << one.hint;
      const std::set<std::string> options = options_of(words[1]);
      if (options.empty()) continue;  // of a program of its own, which is not next to this test
      for (auto word = words.begin() + 2; word != words.end() && *word != "--"; ++word) {
        EXPECT_TRUE(!word->starts_with('-') || options.contains(*word)) << one.word << ": " << *word;
      }
    }
    EXPECT_TRUE(shows_tally) << one.hint;
  }
}

TEST(CommandHint, covers_the_commands_of_perf) {
  for (const char* word :
       {"annotate", "archive", "bench", "c2c", "diff", "list", "mem", "record", "script", "top", "trace"})
    EXPECT_TRUE(is_command(word) || !command_hint(word).empty()) << word;
  EXPECT_EQ(command_hint("record").find("use `tally profile"), 0u);
  EXPECT_EQ(command_hint("sched"), "tally has no equivalent of `perf sched`: use perf");
  EXPECT_EQ(command_hint("stta"), "") << "a typing error has another hint";
}

}  // namespace
}  // namespace tally::cli
