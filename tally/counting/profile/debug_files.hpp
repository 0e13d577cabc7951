// Finds the debug file of a program or library for libdwfl.
#pragma once

#include <elfutils/libdwfl.h>

#include <string>

#include "tally/counting/profile/kept_lines.hpp"

namespace tally::profile {

/// Returns the build ID of a module in hexadecimal; empty if it has none.
std::string build_id_of(Dwfl_Module* module);

/// A Dwfl_Callbacks::find_debuginfo. Searches this machine first: by build ID, then by the name in .gnu_debuglink, or
/// by FILE.debug if there is none, in /usr/lib/debug and next to the file. Then asks the servers, if
/// ask_debug_servers() enabled them. libdwfl's own dwfl_standard_find_debuginfo() asks every server in the environment,
/// which can take minutes and prints nothing. Returns a descriptor that the caller closes, and its path in `found`; −1
/// if there is no such file. The module's user data is a std::vector<DebugFile> or null: adds what it found.
int find_debug_file(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base, const char* file,
                    const char* link, GElf_Word crc, char** found);

/// Searches for the debug file of a module that libdwfl has not searched for, and adds it to the module's user data.
void note_debug_file(Dwfl_Module* module);

}  // namespace tally::profile
