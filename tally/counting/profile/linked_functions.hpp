// Entries of the tables through which a file calls functions of other files (.plt): "puts@plt".
#pragma once

#include <libelf.h>

#include <vector>

#include "tally/counting/profile/code_names.hpp"

namespace tally::profile {

/// By rising address; of x86-64 and AArch64. Entries without a symbol, and the one that calls the dynamic linker, are
/// left out.
std::vector<NamedCode> linked_functions(::Elf* file);

}  // namespace tally::profile
