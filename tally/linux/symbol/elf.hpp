// Executables and shared libraries (ELF, 64 bit): their functions, and where code of the file is in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::symbol {

/// A function that the file defines.
struct Function {
  std::string_view name;      ///< as the file has it, without a version; into the bytes of the file
  std::uint64_t address = 0;  ///< as the file counts addresses
  bool chosen_late = false;   ///< STT_GNU_IFUNC: at the address stands what chooses the function
  bool local = false;         ///< of one source file only
  bool operator==(const Function&) const = default;
};

/// A part of the file that is mapped to be executed.
struct Segment {
  std::uint64_t offset = 0, bytes = 0;  ///< in the file
  std::uint64_t address = 0;
  bool operator==(const Segment&) const = default;
};

/// What of a file is needed to find its functions in a process.
struct Elf {
  std::vector<Function> functions;  ///< each name at an address once
  std::vector<Segment> executable;
  bool stripped = false;  ///< without .symtab: only what it offers to others has a name
  bool dynamic = false;   ///< it needs a dynamic linker, and may load more
};

/// Reads the bytes of a file, which must outlive the result. Pure; 20 ns a symbol. Errors: bad_usage where it is no
/// such file, or is damaged.
Result<Elf> read_elf(std::string_view bytes);

/// How far from the address that the file says its code lies, where `offset` of the file is mapped at `start`. Nothing
/// where no executable segment holds that offset.
std::optional<std::uint64_t> bias_of(const Elf& elf, std::uint64_t offset, std::uint64_t start);

}  // namespace tally::symbol
