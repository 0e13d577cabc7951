// Names of the vDSO, the kernel's code in every process. It is not a file, so they are read from tally's own process.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>

#include "tally/counting/profile/code_names.hpp"

namespace tally::profile {

/// Returns null if there is no vDSO, or it cannot be read.
std::unique_ptr<CodeNames> names_of_vdso();

/// Returns where the vDSO starts in a process that executed these addresses of it. All addresses must be in functions,
/// and at least one at the start of a function. Returns nothing if no base fits, or several do.
std::optional<std::uint64_t> vdso_base(const CodeNames& names, const std::set<std::uint64_t>& executed);

}  // namespace tally::profile
