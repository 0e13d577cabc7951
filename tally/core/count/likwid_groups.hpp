// The groups of LIKWID, and what tally has for the same question.
#pragma once

#include <string_view>

namespace tally {

/// What to use instead of a group of LIKWID, by its name in any case; empty if it has no such group.
std::string_view hint_of_likwid_group(std::string_view name);

}  // namespace tally
