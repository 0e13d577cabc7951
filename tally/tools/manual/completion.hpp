// Completion scripts of the shells, made of the same table and pages as --help. The build prints them with the built
// command.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tally/tools/command/command_description.hpp"

namespace tally::manual {

using command::CommandDescription;
using command::Commands;
using command::OptionDescription;

/// The script that bash completes `tally` with.
std::string bash_completion(Commands commands);
/// The function _tally of zsh.
std::string zsh_completion(Commands commands);
/// The script that fish completes `tally` with.
std::string fish_completion(Commands commands);

/// A word that a shell offers, and its meaning, which may be empty.
struct CompletionWord {
  std::string_view text, meaning;
};

/// Words for every value of this name.
struct CompletionSet {
  std::string_view value_name;  ///< of an option, or the name of a positional argument: "EVENTS"
  bool is_list;                 ///< the value is a list of the words, separated by commas
  std::vector<CompletionWord> (*words)();
};

/// Events, metrics, backends.
std::span<const CompletionSet> completion_sets();

/// How a shell completes the value of an option, or a positional argument.
struct CompletionValue {
  enum class Kind { none, file, words, set };
  Kind kind = Kind::none;
  std::string name;                    ///< "EVENTS"; empty for a flag
  std::vector<std::string> words;      ///< with Kind::words: all that the value can be
  const CompletionSet* set = nullptr;  ///< with Kind::set
};

CompletionValue completion_value(const OptionDescription& option);

}  // namespace tally::manual
