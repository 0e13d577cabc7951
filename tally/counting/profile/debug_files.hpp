// Finds the debug file of a program or library for libdwfl.
#pragma once

#include <elfutils/libdwfl.h>

namespace tally::profile {

/// A Dwfl_Callbacks::find_debuginfo. Searches this machine by build ID and by the name in the file, below
/// /usr/lib/debug and next to the file, and then servers if debug_servers.hpp allows it. libdwfl's own
/// dwfl_standard_find_debuginfo() asks every server in the environment, which can take minutes without a message.
/// Returns a descriptor, or −1.
int find_debug_file(Dwfl_Module* module, void** data, const char* name, Dwarf_Addr base, const char* file,
                    const char* link, GElf_Word crc, char** found);

}  // namespace tally::profile
