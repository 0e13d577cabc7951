// Digests of the source text and of the executed code of functions: whether a later build still has the same.
#pragma once

#include <cstdint>
#include <vector>

#include "tally/output/kinds/profile_format.hpp"

namespace tally::output {

/// 0: unknown.
struct FunctionDigests {
  std::uint64_t source = 0;  ///< of the text of its lines, wherever they are in their files
  std::uint64_t code = 0;    ///< of the distances of its executed instructions from its beginning
};

/// The digests of each function. Those of a stored profile, which has neither, are the stored ones. The source is
/// unknown if a file is missing or newer than the program, and so is the code of samples.
std::vector<FunctionDigests> digests_of(const result::Profile& profile, const SourceReader& read);

}  // namespace tally::output
