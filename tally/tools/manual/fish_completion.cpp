#include <fmt/format.h>

#include "tally/core/base/text.hpp"
#include "tally/tools/command/option_groups.hpp"
#include "tally/tools/manual/completion.hpp"

namespace tally::manual {
namespace {

using command::option_groups;
using command::OptionGroup;
using Words = std::vector<std::string>;

std::string fish_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\\' || c == '\'') result += '\\';
    result += c;
  }
  return result + "'";
}

// What `complete` is given for a value: -x takes the words alone, -F adds files.
std::string value_arguments(const CompletionValue& value) {
  switch (value.kind) {
    case CompletionValue::Kind::file: return " -r -F";
    case CompletionValue::Kind::words: return " -x -a " + fish_quoted(join(value.words, " "));
    case CompletionValue::Kind::set: {
      const std::string words = fmt::format("__tally_words {}", value.set->value_name);
      return " -x -a " + fish_quoted(value.set->is_list ? "(__tally_list (" + words + "))" : "(" + words + ")");
    }
    case CompletionValue::Kind::none: break;
  }
  return value.name.empty() ? "" : " -x";
}

std::string positional_arguments(const CompletionValue& value) {
  if (value.kind == CompletionValue::Kind::none) return "";
  // -r is about the value of an option.
  return value.kind == CompletionValue::Kind::file ? " -F" : value_arguments(value);
}

std::string option_line(const CommandDescription& command, const OptionDescription& option) {
  const CompletionValue value = completion_value(option);
  std::string line = fmt::format("complete -c tally -n '__tally_in {}'", command.name);
  if (option.is_positional()) {
    const std::string arguments = positional_arguments(value);
    return arguments.empty() ? "" : line + arguments + "\n";
  }
  for (const std::string& name : option.names)
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  return line + value_arguments(value) + " -d " + fish_quoted(option.text) + "\n";
}

std::string command_lines(const CommandDescription& command) {
  std::string text;
  for (const OptionDescription& option : command.options) text += option_line(command, option);
  if (command.runs_program)
    text += fmt::format("complete -c tally -n '__tally_at_program {}' -a '(__tally_complete_program)'\n", command.name);
  return text;
}

// The arms of `switch $command`: the options of each command that a value follows.
std::string value_option_arms(Commands commands) {
  std::string arms;
  for (const CommandDescription& command : commands) {
    Words names;
    for (const OptionDescription& option : command.options) {
      if (!option.value_name.empty()) names.insert(names.end(), option.names.begin(), option.names.end());
    }
    if (!names.empty())
      arms += fmt::format("        case {}\n            printf '%s\\n' {}\n", command.name, join(names, " "));
  }
  return arms;
}

std::string fish_word_arms() {
  std::string arms;
  for (const CompletionSet& set : completion_sets()) {
    arms += fmt::format("        case {}\n            printf '%s\\t%s\\n'", set.value_name);
    for (const CompletionWord& word : set.words())
      arms += fmt::format(" \\\n                {} {}", fish_quoted(word.text), fish_quoted(word.meaning));
    arms += "\n";
  }
  return arms;
}

std::string programs_condition(Commands commands) {
  Words names;
  for (const CommandDescription& command : commands) {
    if (command.runs_program) names.emplace_back(command.name);
  }
  return join(names, " ");
}

constexpr const char* fish_logic = R"fish(
# Completes the last item of a list that is separated by commas.
function __tally_list
    set -l before (string replace -r '^-[^=]*=' '' -- (commandline -ct) | string match -r '^.*,')
    or set before ''
    printf '%s\n' $before$argv
end

# Prints the index of the program's first word among the words before the cursor; fails if the program does not begin
# there. The first word that is neither an option nor its value begins the program.
function __tally_program_index
    set -l words (commandline -opc)
    contains -- "$words[2]" $__tally_programs
    or return 1
    set -l value_options (__tally_value_options $words[2])
    set -l i 3
    while test $i -le (count $words)
        switch $words[$i]
            case --
                math $i + 1
                return
            case '-*'
                contains -- $words[$i] $value_options
                and set i (math $i + 1)
            case '*'
                echo $i
                return
        end
        set i (math $i + 1)
    end
    return 1
end

# The words belong to this command of tally.
function __tally_in
    set -l words (commandline -opc)
    test "$words[2]" = $argv[1]
    and not __tally_program_index >/dev/null
end

# The word at the cursor is the program of this command of tally, or an argument of the program.
function __tally_at_program
    set -l words (commandline -opc)
    test "$words[2]" = $argv[1]
    or return 1
    __tally_program_index >/dev/null
    or not string match -q -- '-*' (commandline -ct)
end

function __tally_complete_program
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l line
    set -l first (__tally_program_index)
    and test $first -le (count $words)
    and set line (string escape -- $words[$first..-1])
    complete -C (string join ' ' -- $line "$typed")
end

function __tally_at_command
    test (count (commandline -opc)) -eq 1
end

complete -c tally -f
complete -c tally -n __tally_at_command -s h -l help -d 'print the help'
complete -c tally -n __tally_at_command -s V -l version -d 'print version, commit and build'
)fish";

}  // namespace

std::string fish_completion(Commands commands) {
  std::string text = "# fish completion of tally, printed by the command itself.\n\n";
  text +=
      fmt::format("# The commands that run a program.\nset -g __tally_programs {}\n\n", programs_condition(commands));
  text += fmt::format("function __tally_value_options\n    switch $argv[1]\n{}    end\nend\n\n",
                      value_option_arms(commands));
  text += fmt::format("function __tally_words\n    switch $argv[1]\n{}    end\nend\n", fish_word_arms());
  text += fish_logic;
  for (const CommandDescription& command : commands) {
    for (const char* place : {"__tally_at_command", "'__tally_in help'"})
      text += fmt::format("complete -c tally -n {} -a {} -d {}\n", place, command.name, fish_quoted(command.summary));
  }
  for (const OptionGroup* group : option_groups())
    text +=
        fmt::format("complete -c tally -n '__tally_in help' -a {} -d {}\n", group->name, fish_quoted(group->summary));
  text += "complete -c tally -n __tally_at_command -a help -d 'print the help of a command'\n";
  for (const CommandDescription& command : commands) text += "\n" + command_lines(command);
  return text;
}

}  // namespace tally::manual
