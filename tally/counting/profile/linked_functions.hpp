// Names the entries of the procedure linkage tables (.plt), through which a file calls functions of others: "puts@plt".
#pragma once

#include <libelf.h>

#include <vector>

#include "tally/counting/profile/code_names.hpp"

namespace tally::profile {

/// Returns the entries by rising address, for x86-64 and AArch64. Omits entries without a symbol, and the one that
/// calls the dynamic linker.
std::vector<NamedCode> linked_functions(::Elf* file);

}  // namespace tally::profile
