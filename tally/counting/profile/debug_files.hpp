// Finds the debug file of a program or library for libdwfl.
#pragma once

#include <elfutils/libdwfl.h>

namespace tally::profile {

/// A Dwfl_Callbacks::find_debuginfo. Searches this machine first: by build ID, then by the name in .gnu_debuglink, or
/// by FILE.debug if there is none, in /usr/lib/debug and next to the file. Then asks the servers, if
/// ask_debug_servers() enabled them. libdwfl's own dwfl_standard_find_debuginfo() asks every server in the environment,
/// which can take minutes and prints nothing. Returns a descriptor that the caller closes, and its path in `found`; −1
/// if there is no such file.
int find_debug_file(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base, const char* file,
                    const char* link, GElf_Word crc, char** found);

}  // namespace tally::profile
