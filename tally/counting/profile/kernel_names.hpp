// Reads the names of the kernel's functions from /proc/kallsyms.
#pragma once

#include <memory>
#include <string_view>

#include "tally/counting/profile/code_names.hpp"

namespace tally::profile {

/// Returns the names of the running kernel and its modules; null if it hides addresses (kernel.kptr_restrict).
std::unique_ptr<CodeNames> names_of_kernel();

/// The same for a text in the format of /proc/kallsyms.
std::unique_ptr<CodeNames> names_of_kernel(std::string_view symbols);

}  // namespace tally::profile
