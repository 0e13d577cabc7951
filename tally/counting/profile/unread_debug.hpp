// Debug information that a file names and that cannot be read, so that nobody takes what is missing for what is not.
#pragma once

#include <elfutils/libdw.h>

#include <optional>
#include <string>

namespace tally::profile {

/// What is missing of the unit of compilation, whose debug information is in a file of its own (-gsplit-dwarf): the
/// name of that file, and why. Nothing where it was read.
std::optional<std::string> unread_split_unit(Dwarf_Die& unit, const std::string& program);

/// The file that debug files share (dwz), where it is not found.
std::optional<std::string> unread_shared_file(Dwarf* dwarf);

/// Sections of debug information in a way of compression that libelf does not know.
std::optional<std::string> unread_compression(const std::string& path, ::Elf* file);

}  // namespace tally::profile
