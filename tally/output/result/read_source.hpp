// What a program read that may make its runs differ, as plain data.
#pragma once

#include <cstdint>
#include <string>

namespace tally::result {

/// A location of code, by the function that contains it.
struct CodeFunction {
  std::string file;          ///< path of the program or library, or "[vdso]"; empty: unknown
  std::string function;      ///< demangled; empty: the file has no name for it
  std::uint64_t offset = 0;  ///< of the code in the file
  bool operator==(const CodeFunction&) const = default;
};

/// A source of differences that was read in a run.
struct ReadSource {
  std::string source;      ///< "cpuid", "clock", …: see docs/guides/repeatable-counts.md
  std::int64_t count = 0;  ///< how often; of the environment: its bytes
  std::string program;     ///< the first program that read it
  CodeFunction first;      ///< its code that read it first
  CodeFunction caller;     ///< the innermost function on its stack that belongs to another file
  std::string answer;      ///< what it got instead: "instruction count", "fixed seed", "CPU model"; empty: the real one
  bool operator==(const ReadSource&) const = default;
};

}  // namespace tally::result
