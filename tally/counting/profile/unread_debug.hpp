// Reports debug information that a file refers to and that cannot be read, so that missing lines are explained.
#pragma once

#include <elfutils/libdw.h>

#include <optional>
#include <string>

namespace tally::profile {

/// Returns what is missing of a compilation unit with its debug information in a separate file (-gsplit-dwarf): the
/// name of that file, and the reason; nothing if it was read.
std::optional<std::string> unread_split_unit(Dwarf_Die& unit, const std::string& program);

/// Returns the file that debug files share (dwz), if it is missing.
std::optional<std::string> unread_shared_file(Dwarf* dwarf);

/// Returns the reason if the table of lines of a compilation unit is damaged.
std::optional<std::string> unread_lines(const std::string& path, Dwarf_Die& unit);

/// Returns the reason if debug information is compressed with a method that libelf does not support, or damaged.
/// `why`: why libdw does not read it, or null.
std::optional<std::string> unread_sections(const std::string& path, ::Elf* file, const char* why);

}  // namespace tally::profile
