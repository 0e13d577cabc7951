#include <fmt/format.h>

#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/tools/command/option_groups.hpp"
#include "tally/tools/manual/completion.hpp"

namespace tally::manual {
namespace {

using command::option_groups;
using command::topic_names;
using Words = std::vector<std::string>;

// The arms of `case $command`: the options of each command, and what their values are.
std::string options_arms(Commands commands) {
  std::string arms;
  for (const CommandDescription& command : commands) {
    Words all;
    for (const OptionDescription& option : command.options)
      for (const std::string& name : option.names) all.push_back(name);
    arms += fmt::format("    {}) echo '{}' ;;\n", command.name, join(all, " "));
  }
  return arms;
}

std::string value_arms(Commands commands) {
  std::string arms;
  for (const CommandDescription& command : commands) {
    for (const OptionDescription& option : command.options) {
      const CompletionValue value = completion_value(option);
      if (value.name.empty()) continue;
      // Alternatives end with a bar, so that a single one is no kind of value.
      const bool is_words = value.kind == CompletionValue::Kind::words;
      const std::string kind = is_words ? join(value.words, "|") + "|" : value.name;
      Words patterns;
      if (option.is_positional()) patterns.push_back(fmt::format("{}:", command.name));
      for (const std::string& name : option.names) patterns.push_back(fmt::format("{}:{}", command.name, name));
      arms += fmt::format("    {}) echo '{}' ;;\n", join(patterns, "|"), kind);
    }
  }
  return arms;
}

std::string bash_word_arms() {
  std::string arms;
  for (const CompletionSet& set : completion_sets()) {
    Words words;
    for (const CompletionWord& word : set.words()) words.emplace_back(word.text);
    arms += fmt::format("    {}) echo '{}' ;;\n", set.value_name, join(words, " "));
  }
  return arms;
}

// The commands that run a program, as a pattern of `case`.
std::string program_pattern(Commands commands) {
  Words names;
  for (const CommandDescription& command : commands) {
    if (command.runs_program) names.emplace_back(command.name);
  }
  return join(names, "|");
}

std::string command_words(Commands commands) {
  Words words;
  for (const CommandDescription& command : commands) words.emplace_back(command.name);
  return join(words, " ");
}

// Works with bash alone; with the package bash-completion the measured program's own completion is used after its
// name.
constexpr const char* bash_logic = R"bash(
# Completes the last item of a list that is separated by commas.
_tally_list() {
  local typed=$1 before=
  [[ $typed == *,* ]] && before=${typed%,*},
  local IFS=$' \t\n' word
  COMPREPLY=()
  for word in $(compgen -W "$2" -- "${typed##*,}"); do COMPREPLY+=("$before$word"); done
}

_tally_value() {
  local kind=$1 typed=$2
  case $kind in
    FILE) compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$typed")) ;;
    EVENTS | EVENT | METRICS) compopt -o nospace 2>/dev/null; _tally_list "$typed" "$(_tally_words "$kind")" ;;
    *'|') COMPREPLY=($(compgen -W "${kind//|/ }" -- "$typed")) ;;
    *) COMPREPLY=($(compgen -W "$(_tally_words "$kind")" -- "$typed")) ;;
  esac
}

_tally() {
  local IFS=$' \t\n'
  local typed=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "$(_tally_commands) help --help --version" -- "$typed"))
    return
  fi
  local command=${COMP_WORDS[1]} i kind
  if [[ $command == help ]]; then
    COMPREPLY=($(compgen -W "$(_tally_commands) $(_tally_topics)" -- "$typed"))
    return
  fi
  # bash cuts words at an equals sign: --format=json comes as three.
  if [[ $typed == = ]]; then typed= before=${COMP_WORDS[COMP_CWORD - 1]}; fi
  if [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi
  # The first word that is neither an option nor its value begins the program, where the command has one.
  if _tally_runs_program "$command"; then
    for ((i = 2; i < COMP_CWORD; ++i)); do
      case ${COMP_WORDS[i]} in
        --) ((++i)); break ;;
        =) ((++i)) ;;
        -*)
          kind=$(_tally_kind "$command:${COMP_WORDS[i]}")
          [[ $kind && ${COMP_WORDS[i + 1]} != = ]] && ((++i)) ;;
        *) break ;;
      esac
    done
    if ((i < COMP_CWORD)) || [[ ${COMP_WORDS[COMP_CWORD - 1]} == -- ]]; then
      if declare -F _command_offset >/dev/null; then
        _command_offset "$i"
      elif ((i == COMP_CWORD)); then
        COMPREPLY=($(compgen -c -- "$typed"))
      else
        compopt -o filenames 2>/dev/null
        COMPREPLY=($(compgen -f -- "$typed"))
      fi
      return
    fi
  fi
  kind=$(_tally_kind "$command:$before")
  if [[ $kind ]]; then
    _tally_value "$kind" "$typed"
  elif [[ $typed == -* ]]; then
    COMPREPLY=($(compgen -W "$(_tally_options "$command")" -- "$typed"))
  elif _tally_runs_program "$command"; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -c -- "$typed"))
  else
    kind=$(_tally_kind "$command:")
    if [[ $kind ]]; then _tally_value "$kind" "$typed"; fi
  fi
}

complete -F _tally tally
)bash";

}  // namespace

std::string bash_completion(Commands commands) {
  std::string text = "# bash completion of tally, printed by the command itself.\n\n";
  text += fmt::format("_tally_commands() {{ echo '{}'; }}\n\n", command_words(commands));
  text += fmt::format("_tally_topics() {{ echo '{}'; }}\n\n", join(topic_names(), " "));
  text += fmt::format("_tally_options() {{\n  case $1 in\n{}  esac\n}}\n\n", options_arms(commands));
  text += fmt::format("_tally_runs_program() {{\n  case $1 in\n    {}) return 0 ;;\n  esac\n  return 1\n}}\n\n",
                      program_pattern(commands));
  text += fmt::format("# What the value of an option is.\n_tally_kind() {{\n  case $1 in\n{}  esac\n}}\n\n",
                      value_arms(commands));
  text += fmt::format("_tally_words() {{\n  case $1 in\n{}  esac\n}}\n", bash_word_arms());
  return text + bash_logic;
}

}  // namespace tally::manual
