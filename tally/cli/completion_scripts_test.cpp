// The completion scripts of the shells have every command, option, value and help text.

#include <gtest/gtest.h>

#include <algorithm>

#include "tally/cli/commands.hpp"
#include "tally/core/base/holds_testing.hpp"
#include "tally/core/base/text.hpp"
#include "tally/tools/command/option_groups.hpp"
#include "tally/tools/manual/completion.hpp"

namespace tally::cli {
namespace {

using namespace manual;

const std::vector<CommandDescription>& descriptions() {
  static const std::vector<CommandDescription> all = describe_commands();
  return all;
}

// The lines of a script that begin like this.
std::string lines_with(const std::string& script, const std::string& beginning) {
  std::string found;
  for (const std::string& line : split(script, '\n'))
    if (line.starts_with(beginning)) found += line + "\n";
  return found;
}

// The body of a function of sh or zsh.
std::string function_of(const std::string& script, const std::string& name) {
  const std::size_t at = script.find("\n" + name + "() {\n");
  return at == std::string::npos ? "" : script.substr(at, script.find("\n}\n", at) - at);
}

// Both scripts escape quotes and brackets in a way of their own.
std::string without_escapes(std::string text) {
  for (const char* one : {"'\\''", "\\"})
    for (std::size_t at = 0; (at = text.find(one, at)) != std::string::npos;) text.erase(at, std::string(one).size());
  std::erase(text, '\'');
  return text;
}

template <class Check>
void for_each_option(const Check& check) {
  for (const CommandDescription& command : descriptions()) {
    for (const OptionDescription& option : command.options)
      for (const std::string& name : option.names) check(std::string(command.name), option, name);
  }
}

TEST(BashCompletion, has_every_command_and_option) {
  const std::string text = bash_completion(descriptions());
  for_each_option([&](const std::string& command, const OptionDescription&, const std::string& name) {
    const std::string line = lines_with(text, "    " + command + ") echo '");
    EXPECT_TRUE(holds(line, name)) << command << " " << line;
  });
}

TEST(ZshCompletion, has_every_option_with_its_text) {
  const std::string text = zsh_completion(descriptions());
  EXPECT_TRUE(text.starts_with("#compdef tally\n"));
  for_each_option([&](const std::string& command, const OptionDescription& option, const std::string& name) {
    const std::string body = without_escapes(function_of(text, "_tally_" + command));
    const char* separator = option.value_name.empty() ? "" : name.starts_with("--") ? "=" : "+";
    const std::string expected = without_escapes(name + separator + "[" + option.text + "]");
    EXPECT_TRUE(holds(body, expected)) << command << " " << expected;
  });
}

TEST(ZshCompletion, offers_again_what_may_be_repeated) {
  const std::string body = function_of(zsh_completion(descriptions()), "_tally_stat");
  EXPECT_TRUE(holds(body, "'*-e+["));
  EXPECT_TRUE(holds(body, "'(-r --repeat)-r+["));
}

TEST(FishCompletion, has_every_option_with_its_text) {
  const std::string text = fish_completion(descriptions());
  for_each_option([&](const std::string& command, const OptionDescription& option, const std::string& name) {
    const std::string lines = lines_with(text, "complete -c tally -n '__tally_in " + command + "' ");
    const std::string spelled = name.starts_with("--") ? " -l " + name.substr(2) + " " : " -s " + name.substr(1) + " ";
    EXPECT_TRUE(holds(lines, spelled)) << command << " " << name;
    EXPECT_TRUE(holds(without_escapes(lines), " -d " + without_escapes(option.text))) << command << " " << name;
  });
}

TEST(Completion, every_shell_has_the_same_sets_of_words) {
  const std::string bash = bash_completion(descriptions()), zsh = without_escapes(zsh_completion(descriptions())),
                    fish = fish_completion(descriptions());
  for (const CompletionSet& set : completion_sets()) {
    ASSERT_FALSE(set.words().empty());
    const std::string line = lines_with(bash, "    " + std::string(set.value_name) + ") echo");
    for (const CompletionWord& word : set.words()) {
      EXPECT_TRUE(holds(line, std::string(word.text))) << word.text;
      EXPECT_TRUE(holds(zsh, std::string(word.text))) << word.text;
      EXPECT_TRUE(holds(fish, "'" + std::string(word.text) + "' '")) << word.text;
    }
  }
}

TEST(Completion, every_shell_offers_the_topics_of_help) {
  for (const std::string& topic : topic_names()) {
    EXPECT_TRUE(holds(lines_with(bash_completion(descriptions()), "_tally_topics"), topic)) << topic;
    EXPECT_TRUE(holds(function_of(zsh_completion(descriptions()), "_tally_topics"), "'" + topic + ":")) << topic;
    EXPECT_TRUE(holds(fish_completion(descriptions()), "'__tally_in help' -a " + topic + " -d ")) << topic;
  }
}

TEST(Completion, commands_that_run_a_program_have_its_completion) {
  const std::string zsh = zsh_completion(descriptions()), fish = fish_completion(descriptions());
  for (const char* command : {"stat", "sample", "profile"}) {
    EXPECT_TRUE(holds(function_of(zsh, std::string("_tally_") + command), "_tally_program")) << command;
    EXPECT_TRUE(holds(fish, std::string("__tally_at_program ") + command + "'")) << command;
  }
  EXPECT_FALSE(holds(function_of(zsh, "_tally_doctor"), "_tally_program"));
}

TEST(Completion, the_kind_of_a_value_follows_from_the_option) {
  OptionDescription option;
  EXPECT_EQ(completion_value(option).kind, CompletionValue::Kind::none);
  option.positional_name = "FILE";
  EXPECT_EQ(completion_value(option).kind, CompletionValue::Kind::file);
  option.names = {"--event"};
  option.value_name = "EVENTS";
  ASSERT_EQ(completion_value(option).kind, CompletionValue::Kind::set);
  EXPECT_TRUE(completion_value(option).set->is_list);
  option.value_name = "own|callees";
  EXPECT_EQ(completion_value(option).words, (std::vector<std::string>{"own", "callees"}));
  option.value_name = "N|LIST";
  EXPECT_EQ(completion_value(option).kind, CompletionValue::Kind::none);
  option.words = {"one", "two"};
  EXPECT_EQ(completion_value(option).kind, CompletionValue::Kind::words);
}

}  // namespace
}  // namespace tally::cli
