// Finds the functions to which the copies and parts that compilers make belong (core/base/clone_name.hpp).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tally::symbol {

/// A symbol of a function.
struct CloneSymbol {
  std::string_view name;  ///< as in the file
  std::uint64_t address = 0;
  std::uint32_t unit = 0;  ///< the source file of a local symbol: the index of its STT_FILE symbol; 0: none
};

/// Returns for each symbol the address of the function to which it belongs; 0 for functions that are no clones, and for
/// fragments whose function is unknown. Of several functions of one name (static functions), it is the one of the same
/// source file, else the one that others see. Clones without the function itself belong to the first of them. Cost:
/// 0.1 µs for each symbol.
std::vector<std::uint64_t> functions_of_clones(const std::vector<CloneSymbol>& symbols);

}  // namespace tally::symbol
