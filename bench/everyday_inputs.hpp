// Sources, scripts and build directories of the everyday programs.
#pragma once

#include <string>

namespace bench {

/// Writes all inputs into a directory, the same on every machine.
void write_everyday_inputs(const std::string& folder);

}  // namespace bench
