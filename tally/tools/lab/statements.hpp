// tally lab -e: short statements that become a program.
#pragma once

#include <string>
#include <vector>

#include "tally/tools/lab/image.hpp"

namespace tally::lab {

/// What was asked for, and where its instructions begin.
struct Statement {
  std::string text;
  std::uint64_t address = 0;
};

struct Script {
  Image image;
  std::vector<Statement> statements;
  std::uint64_t end = 0;  ///< behind the last one
};

/// Makes a program of statements, separated by `;` or line ends:
///   wrmsr REGISTER VALUE   wrmsr REGISTER:FIELD=N,FIELD   as `tally register` takes them
///   rdmsr REGISTER         rdpmc N, rdpmc fixed N
///   run N INSTRUCTION      the instruction N times; without it, NOP
///   user                   goes to CPL 3
/// and any other instruction, as nasm takes it. Interrupts are enabled, and a handler that sends an EOI serves each
/// vector from 20H on. Errors: bad_usage, with the statement.
Result<Script> compile(const std::string& text);

}  // namespace tally::lab
