// What help, man pages and completion print for a command, as plain data: a program of its own prints its description
// as JSON, and `tally` reads it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally::command {

struct OptionGroup;

/// What help, man page and completion print for an option.
struct OptionDescription {
  std::vector<std::string> names;  ///< "-e", "--event"; empty for a positional argument
  std::string positional_name;     ///< "FILE"; empty for others
  std::string value_name;          ///< "EVENTS"; empty for flags and positional arguments
  std::string text;
  std::vector<std::string> words;      ///< that the completion offers as values
  const OptionGroup* group = nullptr;  ///< whose topic describes it; null for the command's own options
  bool has_short_name = false;
  bool is_repeatable = false;  ///< may be given several times
  bool is_positional() const { return names.empty(); }
};

/// The description of a command: its options, except hidden ones, and the text around them (see Page).
struct CommandDescription {
  std::string name, summary;  ///< of the row in the list of commands
  std::string sentence, usage, footer;
  bool runs_program = false;  ///< the first argument that is not an option begins a program's command line
  std::vector<OptionDescription> options;
};

/// The commands of tally, in the order of `tally --help`.
using Commands = std::span<const CommandDescription>;

/// A JSON object with everything but name and summary.
std::string description_json(const CommandDescription& description);

/// Reads such an object; empty if the text is something else.
std::optional<CommandDescription> read_description(std::string_view json);

}  // namespace tally::command
