// Reads the functions of executables and shared libraries (64-bit ELF), and where their code is in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tally/core/base/result.hpp"

namespace tally::symbol {

/// A function that the file defines.
struct Function {
  std::string_view name;      ///< as in the file, without a version; points into the file's bytes
  std::uint64_t address = 0;  ///< as in the file
  bool chosen_late = false;   ///< STT_GNU_IFUNC: the code at the address selects the function
  bool local = false;         ///< visible in one source file only
  std::uint32_t unit = 0;     ///< that source file: the index of its STT_FILE symbol; 0: unknown
  bool operator==(const Function&) const = default;
};

/// A part of the file that is mapped as executable.
struct Segment {
  std::uint64_t offset = 0, bytes = 0;  ///< in the file
  std::uint64_t address = 0;
  bool operator==(const Segment&) const = default;
};

/// The part of a file that is needed to find its functions in a process.
struct Elf {
  std::vector<Function> functions;  ///< each name once per address
  std::vector<Segment> executable;
  std::string build_id = {};  ///< in hexadecimal; empty: none
  bool stripped = false;      ///< no .symtab: only exported functions have a name
  bool dynamic = false;       ///< it needs a dynamic linker, which may load more libraries
};

/// Parses the bytes of a file, which must outlive the result. Pure; 20 ns per symbol. Errors: bad_usage if it is not
/// such a file, or is damaged.
Result<Elf> read_elf(std::string_view bytes);

/// Returns the function that contains the code at an offset in the file; nothing if no symbol names it. Reads the
/// tables once, without a list of all functions. Pure; 2 ns per symbol.
std::optional<Function> function_at(std::string_view bytes, std::uint64_t offset);

/// A symbol that the file exports to others (.dynsym).
struct Exported {
  std::uint64_t address = 0, bytes = 0;  ///< as in the file
  std::string_view content;              ///< its bytes; empty if they are not in the file
};

/// Returns the exported symbol of this name; nothing if there is none, or the file is not such a file.
std::optional<Exported> find_exported(std::string_view bytes, std::string_view name);

/// Returns the difference between an address in memory and the address in the file, if `offset` of the file is mapped
/// at `start`. Nothing if no executable segment contains that offset.
std::optional<std::uint64_t> bias_of(const Elf& elf, std::uint64_t offset, std::uint64_t start);

}  // namespace tally::symbol
