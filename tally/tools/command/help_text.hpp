// How options and texts are printed in the help of a command or topic.
#pragma once

#include <string>
#include <vector>

#include "tally/tools/command/command_page.hpp"

namespace tally::command {

/// The lines of two screens. `--help` has at most as many.
constexpr std::size_t two_screens = 48;

std::size_t line_count(std::string_view text);

/// `start`, then `text` in lines of 80 columns, or of those of a narrower terminal; see output::hanging.
std::string in_lines(std::string_view start, std::string_view text);

/// Names and texts of options or positional arguments below a heading; empty if there are none.
std::string option_entries(const std::vector<OptionDescription>& options, const std::string& heading);

/// The same, with the beginning of each text that fits in one line.
std::string brief_entries(const std::vector<OptionDescription>& options, const std::string& heading);

/// The summaries of groups and the names of their options, one entry for each group, below a heading; empty if there
/// are none.
std::string group_entries(const std::vector<OptionDescription>& options);

/// The same without the summaries.
std::string group_names(const std::vector<OptionDescription>& options);

/// Each group with the names and texts of its options, and its text.
std::string whole_groups(const std::vector<OptionDescription>& options);

/// Wraps the paragraphs of a footer for the terminal; indented lines stay unchanged.
std::string paragraphs(const std::string& footer);

/// The first examples of a footer below their heading, in at most this number of lines; empty if there are none.
std::string examples(const std::string& footer, std::size_t lines);

/// The beginning of an option's text that fits in this number of columns: up to the end of a clause if possible. "…"
/// follows a list that is not complete.
std::string brief(const std::string& text, std::size_t columns);

}  // namespace tally::command
