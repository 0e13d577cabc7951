// Assembles user code at run time: a program that executes copies of it in a loop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"
#include "tally/core/base/units.hpp"

namespace tally::assembly {

/// A free-standing program: runs `init` once, then `rounds` times `copies` copies of the code, and exits with code 0.
/// x86-64 uses Intel syntax. At the start of `init`, all registers are zero except the stack pointer and one that
/// points to 1 MiB of zeroed memory, whose first word contains its own address.
struct Loop {
  std::string init;
  std::vector<std::string> texts;  ///< the copies use them in turn; not empty
  std::uint64_t copies = 1;        ///< a multiple of the number of texts
  std::uint64_t rounds = 1;
  bool register_counts = false;  ///< count rounds in a register, to avoid memory accesses of the loop; x86-64: r15
  std::uint64_t memory_bytes = 1 << 20;
  std::optional<Nanoseconds> limit = {};  ///< SIGALRM kills the program after this time; nothing: no limit
};

/// The default time limit of a program that executes this many copies in total: 60 s for up to 400,000 copies, and in
/// proportion for more. Pure.
Nanoseconds usual_limit(std::uint64_t executed_copies);

/// The registers that the program reserves, as a sentence for the help.
constexpr std::string_view reserved_registers() {
#if defined(__aarch64__)
  return "x27 points to memory, x28 counts the rounds";
#else
  return "r14 points to memory";
#endif
}

/// Why code cannot be repeated; empty if it can. Every copy would define a named label again.
std::string why_not_repeated(std::string_view code);

/// Resolves a code option: instructions, or the content of a file that ends in .s or .S. Errors: bad_usage for a file
/// that cannot be read.
Result<std::string> code_of(const std::string& text_or_file);

/// Assembles a text and returns its .text section. `origin`: the name of the code in errors. Errors: bad_usage with the
/// assembler's message for the line; not_found if there is no assembler.
Result<std::string> machine_code(const std::string& text, std::string_view origin);

/// Writes the program into `folder` as executable `name` and returns its path. Errors: as machine_code().
Result<std::string> make_program(const Loop& loop, const std::string& folder, const std::string& name);

}  // namespace tally::assembly
