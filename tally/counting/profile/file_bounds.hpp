// Limits what reading the names and debug information of a file may take: a malicious file may unpack to far more than
// its size.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <string>

namespace tally::profile {

/// Why parts of a file must not be read; empty if they may be.
struct FileBounds {
  std::string symbols, debug;
};

/// Checks what the sections of a file unpack to, without keeping it. Cost: nothing, unless the file has symbols in
/// .gnu_debugdata, which are then unpacked twice: 10 ms for 1 MB.
FileBounds bounds_of(Elf* elf);

/// Returns the length of a unit's table of lines in `file`, which has the debug information; 0 if it is not found.
std::uint64_t line_table_bytes(Elf* file, Dwarf_Die& unit);

}  // namespace tally::profile
