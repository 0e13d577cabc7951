// Compiles statements of tally lab -e to a program.
#pragma once

#include <string>
#include <vector>

#include "programs/lab/lab_image.hpp"

namespace tally::lab {

/// A statement, and the address of its instructions.
struct Statement {
  std::string text;
  std::uint64_t address = 0;
};

struct Script {
  Image image;
  std::vector<Statement> statements;
  std::uint64_t end = 0;  ///< address after the last one
};

/// Compiles statements, separated by `;` or line ends, to a program:
///   wrmsr REGISTER VALUE   wrmsr REGISTER:FIELD=N,FIELD   as `tally register` takes them
///   rdmsr REGISTER         rdpmc N, rdpmc fixed N
///   run N INSTRUCTION      the instruction N times; without it, NOP
///   user                   goes to CPL 3
/// and any other instruction, as nasm accepts it. Interrupts are enabled, and a handler that sends an EOI serves each
/// vector from 20H on. Errors: bad_usage, with the statement.
Result<Script> compile(const std::string& text);

}  // namespace tally::lab
