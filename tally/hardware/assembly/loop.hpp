// Code that is assembled when tally runs: copies of it in a loop, as a program of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/base/units.hpp"

namespace tally::assembly {

/// A free-standing program: `init` once, then `rounds` times so many copies of the code, then the exit with code 0.
/// x86-64 takes Intel's syntax. What the code finds: zeroes in all registers but the stack pointer and the one that
/// points at 1 MiB of zeroed memory, whose first word holds its own address.
struct Loop {
  std::string init;
  std::vector<std::string> texts;  ///< the copies take them in turns; not empty
  std::uint64_t copies = 1;        ///< a multiple of the texts
  std::uint64_t rounds = 1;
  bool register_counts = false;  ///< the rounds: then the loop has no accesses of its own; x86-64 takes r15 for it
  std::uint64_t memory_bytes = 1 << 20;
  std::optional<Nanoseconds> limit = {};  ///< SIGALRM kills the program after this time; nothing: it may run forever
};

/// The time that a program of this many copies, all rounds together, may run unless the user says otherwise: 60 s for
/// up to 400,000 copies, and in proportion for more. Pure.
Nanoseconds usual_limit(std::uint64_t executed_copies);

/// The registers that the program keeps for itself, in a sentence for the help.
std::string_view reserved_registers();

/// Why code cannot be repeated: empty where it can. Named labels would be defined once for each copy.
std::string why_not_repeated(std::string_view code);

/// What stands for code where an option takes it: its text, or that of the file it names, which ends in .s or .S.
/// Errors: bad_usage for a file that cannot be read.
Result<std::string> code_of(const std::string& text_or_file);

/// The machine code of a text, as it stands in .text. `origin` is what errors call it. Errors: bad_usage with the
/// assembler's words for the line; not_found where there is no assembler.
Result<std::string> machine_code(const std::string& text, std::string_view origin);

/// Writes the program into `folder`, as an executable file of that name. Gives its path. Errors: as machine_code().
Result<std::string> make_program(const Loop& loop, const std::string& folder, const std::string& name);

}  // namespace tally::assembly
