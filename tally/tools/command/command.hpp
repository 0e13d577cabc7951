// A command of tally or of a program around it: how it is described, and how it reports and ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::command {

class Page;

/// Exit codes of tally itself; all others are the measured program's.
enum ExitCode : int {
  exit_ok = 0,
  exit_no = 1,  ///< a command that answers a question: no
  exit_bad_usage = 2,
  exit_not_comparable = 3,  ///< two results that cannot be compared
  exit_cannot_measure = 125,
  exit_not_executable = 126,
  exit_not_found = 127,
};

/// The exit code for a kind of failure.
int exit_code(Code code);

/// Prints an error and, below it, its hint to standard error; returns its exit code. If the reader of a pipe closed it,
/// it has what it wanted: prints nothing and returns exit_ok.
int report_error(const Error& error);

/// Prints a message of tally to standard error: the first line after "tally: ", the others indented below it.
void say(const std::vector<std::string>& lines);

/// Prints to standard output. Returns an exit code: 125 if that fails.
int print(std::string_view text);

/// Writes to the file of -o, or to standard output for "" and "-". Returns an exit code: 125 if that fails.
int write_text(const std::string& output, std::string_view text);

}  // namespace tally::command
