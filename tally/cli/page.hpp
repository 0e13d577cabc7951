// What a command says about itself. Its --help, its man page and its completion are made of this one thing.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// CLI11 reads the arguments. Only page.cpp includes it: it takes seconds to compile.
namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tally::cli {

/// What is wrong with a value, to be printed after the option's name; empty where nothing is.
using ValueCheck = std::function<std::string(const std::string& value)>;

/// One option of a page. A handle: valid as long as the page. Every function returns the same option.
class Option {
 public:
  using Words = std::map<const CLI::Option*, std::vector<std::string>>;
  Option(CLI::Option& option, Words& words) : option_(&option), words_(&words) {}
  /// Stands for the value in the help; the completion of the value uses it, too: see completion.cpp.
  Option value_name(const std::string& name);
  /// Refuses values by `check`, which is called with each of them.
  Option check(ValueCheck check);
  /// Accepts these words alone.
  Option one_of(const std::vector<std::string>& words);
  /// Also accepts `word`, an older name for the value `current`. Help, man page and completion do not list it.
  Option alias(const std::string& word, const std::string& current);
  /// Words that the completion offers for the value.
  Option words(std::vector<std::string> words);
  /// May be given several times, with one value each.
  Option repeated();
  /// Takes one value each time, though it is bound to a list.
  Option one_value();
  /// The value is a list with this character between its items.
  Option separated_by(char separator);
  /// Left out of help, man page and completion.
  Option hidden();

 private:
  CLI::Option* option_;
  Words* words_;
};

/// What help, man page and completion print about an option.
struct OptionDescription {
  std::vector<std::string> names;  ///< "-e", "--event"; empty for a positional argument
  std::string positional_name;     ///< "FILE"; empty for others
  std::string value_name;          ///< "EVENTS"; empty for flags and positional arguments
  std::string text;
  std::vector<std::string> words;  ///< that the completion offers for the value
  bool has_short_name = false;
  bool is_positional() const { return names.empty(); }
};

/// The options of one command, and the text around them.
///
/// The footer is plain text in a fixed form, because the man page is made of it, too: paragraphs, headings that end
/// with a colon and stand alone in their line ("Examples:"), and lines that are indented by two spaces and kept as they
/// are.
class Page {
 public:
  Page();
  ~Page();
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  /// What the command does, as one sentence with a full stop, and its usage: "tally stat [options] [--] PROGRAM".
  void head(std::string sentence, std::string usage);
  void footer(std::string text) { footer_ = std::move(text); }

  /// "-e,--event", or "FILE" for a positional argument, whose value goes to `value`. page.cpp lists the types T.
  template <class T>
  Option add_option(const std::string& names, T& value, const std::string& text);
  Option add_flag(const std::string& names, bool& value, const std::string& text);

  /// The first argument that is no option, and all after it, are a program's: remaining() has them after read().
  void prefix_command();
  std::vector<std::string> remaining() const;

  /// Stores the arguments where the options are bound to. Returns tally's exit code where nothing is left to do: the
  /// help was printed, or the arguments are wrong, and the error was printed.
  std::optional<int> read(const std::vector<std::string>& arguments);

  /// Whether the option was among the arguments that read() read.
  bool has(const std::string& name) const;

  /// What to do about an unknown option: the nearest one, where some is near, and the command that lists them all.
  std::string options_hint(const std::string& unknown) const;

  /// The help, as it is printed.
  std::string text() const;

  const std::string& sentence() const { return sentence_; }
  const std::string& usage() const { return usage_; }
  const std::string& footer() const { return footer_; }
  std::vector<OptionDescription> options() const;  ///< but hidden ones

 private:
  std::unique_ptr<CLI::App> app_;
  Option::Words words_;
  std::string sentence_, usage_, footer_;
};

/// Accepts whole numbers from `lowest` to `highest`, both included.
ValueCheck whole_number(std::int64_t lowest, std::int64_t highest = std::numeric_limits<std::int64_t>::max());

}  // namespace tally::cli
