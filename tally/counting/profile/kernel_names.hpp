// Names of the kernel's functions, as it shows them itself (/proc/kallsyms).
#pragma once

#include <memory>
#include <string_view>

#include "tally/counting/profile/code_names.hpp"

namespace tally::profile {

/// Of the kernel that runs, and its modules; null where it shows no addresses (kernel.kptr_restrict).
std::unique_ptr<CodeNames> names_of_kernel();

/// The same of a text in the form of /proc/kallsyms.
std::unique_ptr<CodeNames> names_of_kernel(std::string_view symbols);

}  // namespace tally::profile
