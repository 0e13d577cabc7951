// The functions of a file as BOLT delimits and names them: llvm-bolt, RewriteInstance::discoverFileObjects().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tally/linux/symbol/elf_functions.hpp"

namespace tally::symbol {

struct BoltFunction {
  std::uint64_t address = 0, bytes = 0;
  std::string name;  ///< of a local symbol: "name/file/1", or "name/1" if its source file is not known
  bool operator==(const BoltFunction&) const = default;
};

struct BoltFile {
  std::vector<BoltFunction> functions;  ///< by address; empty of a stripped file
  std::vector<Segment> executable;
};

/// Reads the functions from .symtab. Pure; 100 ns per symbol. Of a damaged file, returns what it read.
BoltFile read_bolt_file(std::string_view elf);

}  // namespace tally::symbol
