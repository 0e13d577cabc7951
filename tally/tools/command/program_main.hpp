// The main function of a program that `tally NAME` starts.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally::command {

class Page;

/// A command that is a program of its own, `tally-NAME`. `tally NAME …` finds it and becomes it, with its whole command
/// line; started by itself, it reads the same options.
struct Program {
  std::string_view name;                                  ///< "memory"
  void (*describe)(Page& page);                           ///< its options and text
  int (*run)(const std::vector<std::string>& arguments);  ///< returns the exit code
};

/// The argument with which a program prints its description (command_description.hpp) and ends.
inline constexpr std::string_view describe_option = "--describe";

/// Runs a program with the arguments of main(): keeps the standard streams reserved, records the invocation, runs on a
/// large stack, and reports exceptions.
int run_program(const Program& program, int argc, char** argv);

/// The same for a program of several commands: its first argument is the name of one, as `tally NAME` passes it.
int run_program_of(std::span<const Program> commands, int argc, char** argv);

}  // namespace tally::command
