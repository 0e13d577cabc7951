// The description of a command, from which its --help, its man page and its completion are made.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/tools/command/command_description.hpp"

// CLI11 parses the arguments. Only page.cpp includes it, because it takes seconds to compile.
namespace CLI {
class Option;
}  // namespace CLI

namespace tally::command {

struct OptionGroup;

/// Returns what is wrong with a value, to be printed after the option's name; empty if nothing is.
using ValueCheck = std::function<std::string(const std::string& value)>;

/// One option of a page: a handle, valid as long as the page. Every function returns the same option.
class Option {
 public:
  /// What a page stores of an option in addition to CLI11.
  struct Details {
    std::vector<std::string> words;  ///< that the completion offers as values
    std::vector<std::string> (*read_words)() = nullptr;
    const OptionGroup* group = nullptr;
  };
  Option(CLI::Option& option, Details& details) : option_(&option), details_(&details) {}
  /// The name of the value in the help; the completion uses it to choose candidates: see completion.cpp.
  Option value_name(const std::string& name);
  /// Calls `check` with each value, and rejects the values for which it returns an error.
  Option check(ValueCheck check);
  /// Accepts only these words, and offers them for completion.
  Option one_of(const std::vector<std::string>& words);
  /// Refuses `word`, a former name of the value `current`, with an error that names that.
  Option renamed(const std::string& word, const std::string& current);
  /// The value names a file that tally writes: %h, %r and %p in it become the host, the MPI rank and the process ID.
  /// Sets the name of the value.
  Option output_file();
  /// Words that the completion offers as values.
  Option words(std::vector<std::string> words);
  /// The same, from a function that is called only for the completion.
  Option words_of(std::vector<std::string> (*read_words)());
  /// Can be given several times, with one value each.
  Option repeated();
  /// Takes one value each time, although it is stored in a list.
  Option one_value();
  /// The value is a list with this separator between its items.
  Option separated_by(char separator);
  /// Omits the option from help, man page and completion.
  Option hidden();
  /// Belongs to this group, instead of the page's.
  Option in(const OptionGroup& group);

 private:
  CLI::Option* option_;
  Details* details_;
};

/// The options of one command, and the text around them.
///
/// The footer is plain text in a fixed form, because the man page is made from it as well: paragraphs, headings that
/// end with a colon and are alone on their line ("Examples:"), and lines indented by two spaces, which are not wrapped.
class Page {
 public:
  Page();
  ~Page();
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  /// Sets the description, one sentence with a full stop, and the usage: "tally stat [options] [--] PROGRAM".
  void head(std::string sentence, std::string usage);
  void footer(std::string text) { footer_ = std::move(text); }

  /// Adds an option, "-e,--event", or a positional argument, "FILE". Its value is stored in `value`. page.cpp lists the
  /// types T.
  template <class T>
  Option add_option(const std::string& names, T& value, const std::string& text);
  Option add_flag(const std::string& names, bool& value, const std::string& text);

  /// Sets the group of the options that are added next, null for none; returns the group before. See GroupScope.
  const OptionGroup* set_group(const OptionGroup* group) { return std::exchange(group_, group); }

  /// The first argument that is not an option starts a program's command line; remaining() returns it after read().
  void prefix_command();
  std::vector<std::string> remaining() const;

  /// What the arguments request.
  enum class Request { measurement, help, whole_help };

  /// Parses the arguments and stores their values. Errors: bad_usage.
  Result<Request> parse(const std::vector<std::string>& arguments);

  /// The same. Returns tally's exit code if the command is finished: it printed the help, or the arguments are invalid
  /// and it printed the error.
  std::optional<int> read(const std::vector<std::string>& arguments);

  /// Whether the arguments of read() contained the option.
  bool has(const std::string& name) const;

  /// The hint for an unknown option: the most similar option, if any is similar, and how to list all of them.
  std::string options_hint(const std::string& unknown) const;

  /// The text of `--help`. If it does not fit in two screens, each option is one line, and the end is examples.
  std::string text() const;

  /// The text of `tally help COMMAND`: every option with its whole text, and the footer.
  std::string whole_text() const;

  const std::string& usage() const { return usage_; }
  std::vector<OptionDescription> options() const;  ///< except hidden ones

  /// Everything but name and summary.
  CommandDescription description() const;

 private:
  Option added(CLI::Option& option);
  std::string brief_text() const;

  class App;
  std::unique_ptr<App> app_;
  std::map<const CLI::Option*, Option::Details> details_;
  const OptionGroup* group_ = nullptr;
  std::string sentence_, usage_, footer_;
};

/// Accepts integers from `lowest` to `highest`, inclusive.
ValueCheck whole_number(std::int64_t lowest, std::int64_t highest = std::numeric_limits<std::int64_t>::max());

}  // namespace tally::command
