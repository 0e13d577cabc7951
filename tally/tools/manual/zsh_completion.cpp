#include <fmt/format.h>

#include "tally/core/base/text.hpp"
#include "tally/tools/command/option_groups.hpp"
#include "tally/tools/manual/completion.hpp"

namespace tally::manual {
namespace {

using command::option_groups;
using command::OptionGroup;
using Words = std::vector<std::string>;

// Puts a backslash before each of `special`.
std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

// An item of _describe: 'WORD:MEANING'.
std::string described(std::string_view word, std::string_view meaning) {
  const std::string name = escaped(word, "\\:");
  return zsh_quoted(meaning.empty() ? name : fmt::format("{}:{}", name, meaning));
}

// The action of _arguments for a value.
std::string action(const CompletionValue& value) {
  switch (value.kind) {
    case CompletionValue::Kind::file: return "_files";
    case CompletionValue::Kind::words: return fmt::format("({})", join(value.words, " "));
    case CompletionValue::Kind::set: return fmt::format("_tally_{}", value.set->value_name);
    case CompletionValue::Kind::none: break;
  }
  return " ";
}

// The specifications of _arguments for an option: one for each of its names.
Words specifications(const OptionDescription& option) {
  const CompletionValue value = completion_value(option);
  const std::string argument =
      value.name.empty() ? "" : fmt::format(":{}:{}", escaped(value.name, "\\:"), action(value));
  if (option.is_positional()) return {zsh_quoted("*" + argument)};
  const std::string prefix = option.is_repeatable ? "*" : fmt::format("({})", join(option.names, " "));
  Words all;
  for (const std::string& name : option.names) {
    const char* separator = value.name.empty() ? "" : name.starts_with("--") ? "=" : "+";
    all.push_back(
        zsh_quoted(fmt::format("{}{}{}[{}]{}", prefix, name, separator, escaped(option.text, "\\[]"), argument)));
  }
  return all;
}

std::string set_function(const CompletionSet& set) {
  Words items;
  for (const CompletionWord& word : set.words()) items.push_back("    " + described(word.text, word.meaning) + "\n");
  const std::string name = fmt::format("_tally_{}", set.value_name);
  // _sequence calls the function for each item of the list, with options that it has to pass on.
  const std::string item = set.is_list ? name + "_item" : name;
  std::string text =
      fmt::format("{}() {{\n  local -a words_of_set=(\n{}  )\n  _describe -t {} {} words_of_set \"$@\"\n}}\n", item,
                  join(items, ""), set.value_name, set.value_name);
  if (set.is_list) text += fmt::format("{}() {{ _sequence {} }}\n", name, item);
  return text;
}

std::string command_function(const CommandDescription& command) {
  Words lines{command.runs_program ? "_arguments -s -S -A '-*'" : "_arguments -s -S"};
  for (const OptionDescription& option : command.options) {
    for (const std::string& one : specifications(option)) lines.push_back(one);
  }
  // The program's own completion.
  if (command.runs_program) lines.emplace_back("'*:: :_tally_program'");
  return fmt::format("_tally_{}() {{\n  {}\n}}\n", command.name, join(lines, " \\\n    "));
}

constexpr const char* zsh_logic = R"zsh(
# _arguments leaves the -- before the program in the words.
_tally_program() {
  if [[ $words[1] == -- ]]; then
    shift words
    (( CURRENT-- ))
  fi
  _normal
}

_tally() {
  local curcontext=$curcontext state
  local -A opt_args
  _arguments -C -A '-*' \
    '(-)'{-h,--help}'[print the help]' \
    '(-)'{-V,--version}'[print version, commit and build]' \
    '1: :_tally_commands' \
    '*:: :->rest'
  [[ $state == rest ]] || return
  curcontext=${curcontext%:*}-$words[1]:
  case $words[1] in
    help) _arguments '1: :_tally_topics' ;;
    *) (( $+functions[_tally_$words[1]] )) && _tally_$words[1] ;;
  esac
}

# zsh loads the file as the body of _tally. A shell that sources the file only defines the functions.
if [[ $funcstack[1] == _tally ]]; then
  _tally "$@"
else
  compdef _tally tally
fi
)zsh";

}  // namespace

std::string zsh_completion(Commands commands) {
  std::string text = "#compdef tally\n# zsh completion of tally, printed by the command itself.\n\n";
  text += "_tally_commands() {\n  local -a commands_of_tally=(\n";
  for (const CommandDescription& command : commands)
    text += fmt::format("    {}\n", described(command.name, command.summary));
  text += fmt::format("    {}\n  )\n  _describe -t commands 'tally command' commands_of_tally\n}}\n\n",
                      described("help", "print the help of a command"));
  text += "_tally_topics() {\n  local -a topics_of_tally=(\n";
  for (const OptionGroup* group : option_groups())
    text += fmt::format("    {}\n", described(group->name, group->summary));
  text += "  )\n  _tally_commands\n  _describe -t topics 'topic' topics_of_tally\n}\n\n";
  for (const CompletionSet& set : completion_sets()) text += set_function(set) + "\n";
  for (const CommandDescription& command : commands) text += command_function(command) + "\n";
  return text + zsh_logic;
}

}  // namespace tally::manual
