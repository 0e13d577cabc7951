// What a command says about itself. Its --help, its man page and its completion are made of this one thing.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tally::cli {

/// The options of one command, and the text around them.
///
/// The footer is plain text in a fixed form, because the man page is made of it, too: paragraphs, headings that end
/// with a colon and stand alone in their line ("Examples:"), and lines that are indented by two spaces and kept as they
/// are. The completion of an option's value goes by its option_text: see completion.cpp.
class Page final : public CLI::App {
 public:
  Page();

  /// What the command does, as one sentence with a full stop, and its usage: "tally stat [options] [--] PROGRAM".
  void head(std::string sentence, std::string usage);
  const std::string& usage() const { return usage_; }

  /// Stores what the arguments say where the options are bound to. Returns tally's exit code where nothing is left to
  /// do: the help was printed, or the arguments are wrong, which was said.
  std::optional<int> read(const std::vector<std::string>& arguments);

  /// What to do about an option that there is not: the nearest one, where some is near, and who lists them all.
  std::string options_hint(const std::string& unknown) const;

  /// The help, as it is printed.
  std::string text() const;

 private:
  std::string usage_;
};

/// Accepts whole numbers from `lowest` to `highest`, both included, and refuses anything else in plain words.
CLI::Validator whole_number(std::int64_t lowest, std::int64_t highest = std::numeric_limits<std::int64_t>::max());

/// An option that may be given several times, with one value each; `text` stands for the value in the help.
void repeated(CLI::Option* option, const char* text);

}  // namespace tally::cli
