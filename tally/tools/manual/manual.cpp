#include "tally/tools/manual/manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tally/core/base/text.hpp"
#include "tally/core/base/version.hpp"
#include "tally/tools/command/option_groups.hpp"
#include "tally/tools/manual/overview.hpp"

namespace tally::manual {
namespace {

using command::CommandDescription;
using command::Commands;
using command::option_groups;
using command::OptionDescription;
using command::OptionGroup;
using command::topic_names;

// Escapes text for groff. A plain hyphen would be typeset as a dash, which cannot be pasted into a shell.
std::string plain(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if (c == '`') {
      escaped += "\\(ga";
    } else if (c == '\'') {
      escaped += "\\(aq";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// A line of text. A dot at its start would be a groff request.
std::string line(std::string_view text) {
  const std::string escaped = plain(text);
  return (escaped.starts_with('.') ? "\\&" : "") + escaped + "\n";
}

std::string upper(std::string text) {
  for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return text;
}

// One usage is filled; several keep their lines.
std::string synopsis(const std::string& usage) {
  const std::vector<std::string> usages = split(usage, '\n');
  if (usages.size() == 1) return line(usage);
  std::string text = ".nf\n";
  for (const std::string& one : usages) text += line(trimmed(one));
  return text + ".fi\n";
}

std::string head(const std::string& name, std::string_view summary, const std::string& usage) {
  return fmt::format(".TH {} 1 \"\" \"tally {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}", upper(name),
                     version(), plain(name), plain(summary), synopsis(usage));
}

// Whether a line is a heading; a sentence that ends with a colon is not.
bool is_heading(const std::string& text) {
  return text.size() > 1 && text.size() <= 24 && text.front() != ' ' && text.ends_with(':') &&
         text.find(',') == text.npos;
}

// Whether the lines of a block are kept: those of commands and tables are, a list of words is filled.
bool keeps_lines(const std::vector<std::string>& block) {
  return std::any_of(block.begin(), block.end(), [](const std::string& text) {
    return text.starts_with("  tally ") || text.find("  ", text.find_first_not_of(' ')) != std::string::npos;
  });
}

std::string indented(const std::vector<std::string>& block) {
  const bool keeps = keeps_lines(block);
  std::string text = keeps ? ".PP\n.nf\n.RS\n" : ".PP\n.RS\n";
  for (const std::string& one : block) text += line(one.substr(2));
  return text + (keeps ? ".RE\n.fi\n" : ".RE\n");
}

// Converts the footer of a page, in its fixed form: see page.hpp.
std::string body(const std::string& footer) {
  std::string text;
  const std::vector<std::string> lines = split(footer, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("  ")) {
      std::vector<std::string> block;
      while (i < lines.size() && lines[i].starts_with("  ")) block.push_back(lines[i++]);
      text += indented(block);
      --i;
    } else if (lines[i].empty()) {
      if (i + 1 < lines.size() && !lines[i + 1].empty() && !lines[i + 1].starts_with("  ")) text += ".PP\n";
    } else if (is_heading(lines[i]) && (i == 0 || lines[i - 1].empty() || lines[i - 1].starts_with("  "))) {
      text += fmt::format(".SH {}\n", plain(upper(lines[i].substr(0, lines[i].size() - 1))));
    } else {
      text += line(lines[i]);
    }
  }
  // Removes paragraph requests before a heading or another paragraph request.
  for (const char* next : {".SH ", ".PP\n"}) {
    for (std::size_t at = 0; (at = text.find(".PP\n" + std::string(next), at)) != std::string::npos;) text.erase(at, 4);
  }
  return text;
}

std::string option_entry(const OptionDescription& option) {
  if (option.is_positional())
    return fmt::format(".TP\n\\fI{}\\fR\n{}", plain(option.positional_name), line(option.text));
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back("\\fB" + plain(name) + "\\fR");
  const std::string value = option.value_name.empty() ? "" : " \\fI" + plain(option.value_name) + "\\fR";
  return fmt::format(".TP\n{}{}\n{}", join(names, ", "), value, line(option.text));
}

// The options of a group, in a section of their own; empty if there are none.
std::string group_section(const OptionGroup* group, const std::vector<OptionDescription>& options) {
  std::string entries;
  for (const OptionDescription& option : options)
    if (option.group == group) entries += option_entry(option);
  if (group == nullptr || entries.empty()) return entries;
  const std::string text = body(std::string(group->text));
  return fmt::format(".SH OPTIONS: {}\nThese options {}.\n{}{}{}", plain(upper(std::string(group->name))),
                     plain(group->summary), entries, text.starts_with(".SH") ? "" : ".PP\n", text);
}

std::string see_also(Commands commands, const std::string& but) {
  std::vector<std::string> pages;
  if (!but.empty()) pages.emplace_back("\\fBtally\\fR(1)");
  for (const CommandDescription& command : commands) {
    if (command.name != but) pages.push_back(fmt::format("\\fBtally\\-{}\\fR(1)", plain(command.name)));
  }
  return ".SH SEE ALSO\n" + join(pages, ", ") + "\n";
}

std::string command_page(Commands commands, const CommandDescription& command) {
  std::string text = head(fmt::format("tally-{}", command.name), command.summary, command.usage);
  text += ".SH DESCRIPTION\n" + line(command.sentence);
  text += ".SH OPTIONS\n" + group_section(nullptr, command.options);
  for (const OptionGroup* group : option_groups()) text += group_section(group, command.options);
  const std::string notes = body(command.footer);
  if (!notes.empty() && !notes.starts_with(".SH")) text += ".SH NOTES\n";
  return text + notes + see_also(commands, std::string(command.name));
}

std::string main_page(Commands commands) {
  std::string text = head("tally", "count what programs do on the processor", "tally COMMAND [options]");
  text += ".SH DESCRIPTION\n" + line(overview);
  text += ".SH COMMANDS\n";
  for (const CommandDescription& command : commands) {
    text += fmt::format(".TP\n\\fBtally\\-{}\\fR(1)\n{}", plain(command.name), line(command.summary));
  }
  text += fmt::format(
      ".TP\n\\fBtally help\\fR [COMMAND|TOPIC]\nPrint the help of a command, or of a group of options: {}.\n",
      plain(join(topic_names(), ", ")));
  text +=
      ".SH OPTIONS\n"
      ".TP\n"
      "\\fB\\-h\\fR, \\fB\\-\\-help\\fR\n"
      "List the commands.\n"
      ".TP\n"
      "\\fB\\-V\\fR, \\fB\\-\\-version\\fR\n"
      "Print version, commit and build.\n";
  text +=
      ".SH EXIT STATUS\n"
      "The exit status of the measured program, or 128+N if signal N killed it. Errors of tally itself: 2 bad usage, "
      "125 tally could not measure or write, 126 the program cannot be executed, 127 the program was not found. "
      "Commands that answer a question return 1 for no.\n";
  text +=
      ".SH ENVIRONMENT\n"
      ".TP\n"
      "TALLY_QUIET\n"
      "If set to anything but 0, \\fBtally stat\\fR, \\fBsample\\fR and \\fBprofile\\fR do not print the notice about "
      "the selected backend, as with \\fB\\-\\-quiet\\fR.\n"
      ".TP\n"
      "TALLY_CACHE_DIR\n"
      "The directory of kept translations and source lines, an absolute path; empty: keep none.\n"
      ".TP\n"
      "TALLY_EVENTS, TALLY_METRICS, TALLY_HISTOGRAMS, TALLY_OUTPUT\n"
      "Of programs that count regions with libtally: what they count, and where they write it.\n"
      ".SH FILES\n"
      ".TP\n"
      "~/.cache/tally\n"
      "What tally keeps to be faster in the next run (or in $XDG_CACHE_HOME/tally). It may be removed at any time; a "
      "package manager does not remove it.\n";
  return text + see_also(commands, "");
}

}  // namespace

std::string man_page(Commands commands, const std::string& name) {
  if (name.empty()) return main_page(commands);
  for (const CommandDescription& command : commands) {
    if (command.name == name) return command_page(commands, command);
  }
  return {};
}

}  // namespace tally::manual
