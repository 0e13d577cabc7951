// Where the debug file of a program or library is: what libdwfl calls to find it.
#pragma once

#include <elfutils/libdwfl.h>

namespace tally::profile {

/// A Dwfl_Callbacks::find_debuginfo. Looks on this machine, by the build id and by the name that the file gives, below
/// /usr/lib/debug and beside the file, and then where debug_servers.hpp allows. libdwfl's own function,
/// dwfl_standard_find_debuginfo(), asks every server in the environment, for minutes and without a word. Returns a
/// descriptor, or −1.
int find_debug_file(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base, const char* file,
                    const char* link, GElf_Word crc, char** found);

}  // namespace tally::profile
