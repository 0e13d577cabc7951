// The kernel's code in every process ([vdso]), which is no file: its names are those of this process's own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>

#include "tally/counting/profile/code_names.hpp"

namespace tally::profile {

/// Null where there is none, or it cannot be read.
std::unique_ptr<CodeNames> names_of_vdso();

/// Where it begins in a process that executed these addresses of it, which says nobody: all must lie in functions, and
/// at least one where a function begins. Nothing where no place does, or several do.
std::optional<std::uint64_t> vdso_base(const CodeNames& names, const std::set<std::uint64_t>& executed);

}  // namespace tally::profile
